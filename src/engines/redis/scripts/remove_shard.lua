-- A shard goes with all that it holds. For a while its META says that it is gone, and of which generation and store: who
-- comes late with the queue's old record must not make it anew. That is written first, and `left` says that the rest is
-- there yet: who comes again goes on. KEYS as for all scripts on a shard. ARGV: 1 the generation, 2 its number, 3 and 4
-- as in the prelude, 5 for how many ms. Answers how many messages went, again where it is asked again.
local META, MSGS, DUE, ODD, READY, LEASED, CLAIMS, LEASES, PAST, DEAD, DONE, HEADS, AGENDA =
  unpack(KEYS)
local call = redis.call
local told = 'gone ' .. ARGV[2] .. ' ' .. string.match(ARGV[1], '^[^.]*')
local generation, removed, left, bulk = unpack(call('HMGET', META, 'generation', 'removed', 'left', 'bulk'))
if generation == told and not left then
  -- Written again, so that who waits for a replica behind it waits for the first time's.
  call('HDEL', META, '')
  call('HSET', META, 'removed', removed or 0)
  return tonumber(removed or 0)
end
if generation and generation ~= ARGV[1] and generation ~= told then
  local gone = tonumber(string.match(generation, '^gone (%d+)'))
  -- Of an earlier one: whoever makes this one's shard has not come yet, and must not.
  if not gone or gone >= tonumber(ARGV[2]) then return 0 end
end
local count = tonumber(removed or 0)
if generation ~= told then
  count = tonumber(string.match(bulk or '', '^%d+') or 0)
  -- What is not ours, under a name of ours, goes too.
  for _, size in ipairs({ redis.pcall('ZCARD', DUE), redis.pcall('ZCARD', ODD), redis.pcall('HLEN', LEASED),
    redis.pcall('ZCARD', DEAD) }) do
    if type(size) == 'number' and size > 1 then count = count + size - 1 end
  end
  call('HDEL', META, '')  -- a first write that is allowed while Redis is full
  call('HSET', META, 'generation', told, 'removed', count, 'left', 1)
end
-- Freed beside what Redis does else, however much it is; where the user may not, at once.
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
redis.pcall('PEXPIRE', META, ARGV[5])  -- where the user may not it stays
redis.pcall('ZREM', HEADS, ARGV[3])
redis.pcall('ZREM', AGENDA, ARGV[3])
call('HDEL', META, 'left')
redis.pcall(PUBLISH, ARGV[4], ARGV[3])  -- who waits there looks, and learns of it
return count
