-- A queue's record ("number shards generation"), made if it is missing. KEYS: 1 tarry:{0}:store, 2 tarry:{0}:queues,
-- 3 tarry:{0}:numbers. ARGV: 1 the queue, 2 shards, 3 queues at most, 4 the channel on which new queues are
-- published, 5 '1' for a caller that waits for replicas: an existing record is written again, so that the caller's
-- WAIT covers it. 6 '?': makes no record, and answers, in a list, the generation that the queue's shards would have;
-- a partition: the queue's first shard exists there already; otherwise '-'. 7 the store's partitions.
if redis.call('HEXISTS', KEYS[1], 'schema') == 0 then
  return redis.error_reply('GONE the store is not there')
end
local record = redis.call('HGET', KEYS[2], ARGV[1])
if record then
  if ARGV[5] == '1' then redis.call('HSET', KEYS[2], ARGV[1], record) end
  return record
end
if redis.call('HLEN', KEYS[2]) > tonumber(ARGV[3]) then  -- the placeholder is one of them
  return redis.error_reply('FULL of queues')
end
local generation, least = unpack(redis.call('HMGET', KEYS[1], 'secret', 'generations'))
if least then generation = generation .. '.' .. least end  -- queues have been removed
if ARGV[6] == '?' then return { generation } end
local number = redis.call('HINCRBY', KEYS[1], 'queues', 1)
if ARGV[6] ~= '-' then
  number = redis.call('HINCRBY', KEYS[1], 'queues', (ARGV[6] - number) % ARGV[7])
end
record = string.format('%.0f', number) .. ' ' .. ARGV[2] .. ' ' .. generation
redis.call('HSET', KEYS[3], number, ARGV[1])  -- first: receipts are read by it
redis.call('HSET', KEYS[2], ARGV[1], record)
redis.pcall(PUBLISH, ARGV[4], ARGV[1] .. '/*')  -- without it, the sweep finds the change
return record
