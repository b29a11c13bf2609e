-- This script runs before a process continues a removal. It makes a write in the slot of the queue's record, so that
-- a WAIT after it proves that the replica has the record too. KEYS: 1 tarry:{0}:store, 2 tarry:{0}:queues. ARGV: 1
-- the queue, 2 the record that was read, 3 its turn. Answers 0 if another process has completed the removal.
redis.call('HDEL', KEYS[1], '')  -- a first write that is allowed while Redis is full
redis.call('HSET', KEYS[1], 'removing', ARGV[3])
return redis.call('HGET', KEYS[2], ARGV[1]) == ARGV[2] and 1 or 0
