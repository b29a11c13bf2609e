-- The end of a removal: the queue's shards are gone, and now its record is deleted. A later push makes the queue
-- again, with a generation that none of its shards has had. KEYS: 1 tarry:{0}:store, 2 tarry:{0}:queues, 3
-- tarry:{0}:numbers. ARGV: 1 the queue, 2 the record that was read, 3 its number, 4 the least number of a new queue's
-- generation, 5 the turn, 6 how many messages were removed, 7 the channel to publish on. Answers how many were
-- removed, as the first caller said: the shards may exist again by now. '' if another queue's removal has ended
-- since.
if redis.call('HGET', KEYS[2], ARGV[1]) ~= ARGV[2] then
  return string.match(redis.call('HGET', KEYS[1], 'removed') or '', '^' .. ARGV[5] .. ' (%d+)$') or ''
end
redis.call('HDEL', KEYS[1], 'removing')  -- a first write that is allowed while Redis is full
redis.call('HSET', KEYS[1], 'removed', ARGV[5] .. ' ' .. ARGV[6])
local least = redis.call('HGET', KEYS[1], 'generations')
if not tonumber(least) or tonumber(least) < tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[1], 'generations', ARGV[4])
end
redis.call('HINCRBY', KEYS[1], 'reshards', 1)
redis.call('HDEL', KEYS[3], ARGV[3])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.pcall(PUBLISH, ARGV[7], ARGV[1] .. '/*')  -- without it, the sweep finds the change
return ARGV[6]
