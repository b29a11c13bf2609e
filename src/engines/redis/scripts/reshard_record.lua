-- Changes a queue's record if it is still as it was read. KEYS: 1 tarry:{0}:store, 2 tarry:{0}:queues. ARGV: 1 the
-- queue, 2 the record that was read, 3 the new one, 4 '1' if a turn is to be appended, 5 the channel to publish on.
-- Answers the record as it is now.
local was = redis.call('HGET', KEYS[2], ARGV[1])
if not was then return redis.error_reply('GONE the queue is not there') end
if was ~= ARGV[2] then return redis.error_reply('STALE another one has changed the record') end
local turn = redis.call('HINCRBY', KEYS[1], 'reshards', 1)
local record = ARGV[3]
if ARGV[4] == '1' then record = record .. ' ' .. string.format('%.0f', turn) end
redis.call('HSET', KEYS[2], ARGV[1], record)
redis.pcall(PUBLISH, ARGV[5], ARGV[1] .. '/*')  -- without it, the sweep finds the change
return record
