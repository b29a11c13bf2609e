-- Begins the removal of a queue: from now on every process that reads its record completes it. KEYS: 1
-- tarry:{0}:store, 2 tarry:{0}:queues. ARGV: 1 the queue, 2 the record that was read, 3 the new one (empty: only the
-- time is wanted), 4 the time in ms (tests only; empty: the server's), 5 until when (empty: at any time), 6 the
-- channel to publish on. Answers the record as it is now, or the time.
local now = ARGV[4]
if now == '' then
  local time = redis.call('TIME')
  now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end
if ARGV[3] == '' then return now end
local was = redis.call('HGET', KEYS[2], ARGV[1])
if not was then return redis.error_reply('GONE the queue is not there') end
if was ~= ARGV[2] then return redis.error_reply('STALE another one has changed the record') end
if ARGV[5] ~= '' and tonumber(now) > tonumber(ARGV[5]) then
  return redis.error_reply('STALE the queue is not held any more')
end
redis.call('HDEL', KEYS[1], '')  -- a first write that is allowed while Redis is full
local turn = redis.call('HINCRBY', KEYS[1], 'reshards', 1)
local record = ARGV[3] .. ' ' .. string.format('%.0f', turn)
redis.call('HSET', KEYS[2], ARGV[1], record)
redis.pcall(PUBLISH, ARGV[6], ARGV[1] .. '/*')  -- without it, the sweep finds the change
return record
