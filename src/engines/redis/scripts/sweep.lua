-- A look at a partition, in case a process missed a wake-up. KEYS: 1 heads, 2 agenda, 3 the inbox. ARGV: 1 the time
-- (tests only), 2 how many shards at most, 3 how many of the agenda to skip first, then names of shards. Answers
-- the shards that have timed work, the named shards that have something due, how many entries are in the inbox
-- (or the error of that look-up, which must not stop the rest), and now.
local now = ARGV[1]
if now == '' then
  local time = redis.call('TIME')
  now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end
local ready = {}
if #ARGV > 3 then
  local heads = redis.call('ZMSCORE', KEYS[1], unpack(ARGV, 4))
  for i = 1, #heads do
    if heads[i] and tonumber(heads[i]) <= tonumber(now) then ready[#ready + 1] = ARGV[i + 3] end
  end
end
local inbox = redis.pcall('XLEN', KEYS[3])
if type(inbox) == 'table' then inbox = inbox.err end
return { redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', ARGV[3], ARGV[2]), ready, inbox, now }
