-- Finds the commands of scripts that this user may not run. Checked before anything is written, because a script
-- that is refused in the middle has done half of its work. ARGV: 1 a key that never exists, 2 '' or 'try' (to try
-- the commands, as Redis 6.2 must); then the commands. Answers the missing ones, or nil if all commands that take a
-- key are allowed.
local key = ARGV[1]
-- Each command is tried with arguments that change nothing: the key does not exist, or Redis refuses the arguments
-- after it has checked the right. Everything works without the commands marked `false`: an inbox that may not be read
-- or cleaned is reported, and waits; ids are taken without a gap.
local forms = {
  del = {}, get = {}, hdel = { 'x' }, hexists = { 'x' }, hget = { 'x' }, hgetall = {},
  hincrby = { 'x', 'x' }, hlen = {}, hmget = { 'x' }, hscan = { '0' }, hset = { 'x', 'x', 'x' }, info = false,
  lindex = { '0' }, llen = {}, lpop = {}, lrem = { '0', 'x' }, pexpire = false, publish = false,
  exec = {}, multi = {}, rename = { key }, rpush = { 'x' }, set = { 'x', 'x' }, time = {}, type = {}, unlink = false,
  xadd = false, xdel = false, xlen = false, xrange = false,
  zadd = { 'x', 'x' }, zcard = {}, zcount = { '0', '0' }, zmscore = { 'x' }, zrange = { '0', '0' },
  zrangebyscore = { '0', '0' }, zrank = { 'x' }, zrem = { 'x' }, zremrangebyrank = { '0', '0' },
  zrevrange = { '0', '0' }, zscore = { 'x' },
}

local function may(name, form)
  if name == 'time' then return not redis.pcall('TIME').err end
  local alone = name == 'multi' or name == 'exec'  -- no script can, and so none can try
  if redis.acl_check_cmd and ARGV[2] == '' then
    if alone then return redis.acl_check_cmd(name) end
    return redis.acl_check_cmd(name, key, unpack(form))
  end
  if alone then return true end
  local reply = redis.pcall(name, key, unpack(form))
  if type(reply) ~= 'table' or not reply.err then return true end
  for _, refusal in ipairs({ 'The user executing the script', 'ACL failure in script' }) do  -- up to 7.0; later
    if string.find(reply.err, refusal, 1, true) then return false end
  end
  return true
end

local missing, may_any = {}, false
for i = 3, #ARGV do
  local name = ARGV[i]
  local form = forms[name]
  if form == nil then return redis.error_reply('ERR no form of ' .. name) end
  if form and may(name, form) then
    may_any = may_any or not (name == 'time' or name == 'multi' or name == 'exec')
  elseif form then
    missing[#missing + 1] = name
  end
end
redis.pcall('DEL', key)  -- left by trying RPUSH
return may_any and missing or { false }
