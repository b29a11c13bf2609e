-- Deletes a shard with everything in it. For a while its META says that it is gone, and of which generation and
-- store: a late process with the queue's old record must not make it again. That is written first. `left` says that
-- the rest still exists: then the next caller deletes it. KEYS as for all scripts on a shard. ARGV: 1 the
-- generation, 2 its number, 3 and 4 as in the prelude, 5 for how many ms. Answers how many messages were removed; a
-- repeated call answers the same.
local META, MSGS, DUE, ODD, READY, LEASED, CLAIMS, LEASES, PAST, DEAD, DONE, HEADS, AGENDA =
  unpack(KEYS)
local call = redis.call
local told = 'gone ' .. ARGV[2] .. ' ' .. string.match(ARGV[1], '^[^.]*')
local generation, removed, left, bulk = unpack(call('HMGET', META, 'generation', 'removed', 'left', 'bulk'))
if generation == told and not left then
  -- A repeated call writes again, so that the caller's WAIT covers the first call's writes too.
  call('HDEL', META, '')
  call('HSET', META, 'removed', removed or 0)
  return tonumber(removed or 0)
end
if generation and generation ~= ARGV[1] and generation ~= told then
  local gone = tonumber(string.match(generation, '^gone (%d+)'))
  -- An earlier generation is gone here: this generation's shard was never made, and must not be made by a
  -- late process.
  if not gone or gone >= tonumber(ARGV[2]) then return 0 end
end
local count = tonumber(removed or 0)
if generation ~= told then
  count = tonumber(string.match(bulk or '', '^%d+') or 0)
  -- Keys under our names that are not ours are deleted too.
  for _, size in ipairs({ redis.pcall('ZCARD', DUE), redis.pcall('ZCARD', ODD), redis.pcall('HLEN', LEASED),
    redis.pcall('ZCARD', DEAD) }) do
    if type(size) == 'number' and size > 1 then count = count + size - 1 end
  end
  call('HDEL', META, '')  -- a first write that is allowed while Redis is full
  call('HSET', META, 'generation', told, 'removed', count, 'left', 1)
end
-- UNLINK frees the memory in the background, however much it is; if the user may not, DEL frees it at once.
local freed = redis.pcall('UNLINK', MSGS, DUE, ODD, READY, LEASED, CLAIMS, LEASES, PAST, DEAD, DONE)
if type(freed) == 'table' then
  call('DEL', MSGS, DUE, ODD, READY, LEASED, CLAIMS, LEASES, PAST, DEAD, DONE)
end
local fields, stale = call('HGETALL', META), {}
for i = 1, #fields, 2 do
  local name = fields[i]
  if name ~= 'generation' and name ~= 'removed' and name ~= 'left' then stale[#stale + 1] = name end
end
if #stale > 0 then call('HDEL', META, unpack(stale)) end
redis.pcall('PEXPIRE', META, ARGV[5])  -- if the user may not, META stays
redis.pcall('ZREM', HEADS, ARGV[3])
redis.pcall('ZREM', AGENDA, ARGV[3])
call('HDEL', META, 'left')
redis.pcall(PUBLISH, ARGV[4], ARGV[3])  -- waiting processes look, and learn of it
return count
