-- A block of ids. KEYS: 1 tarry:{0}:store. ARGV: 1 how many, 2 the time in ms (tests only; empty: the
-- server's). Answers the last one, as a text.
--
-- They run ahead of the time, 16 a ms: what Redis had given, and lost again when it crashed or failed
-- over, it does not give to others then.
if redis.call('HEXISTS', KEYS[1], 'schema') == 0 then
  return redis.error_reply('GONE the store is not there')
end
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local floor = math.max(0, (now - 1577836800000) * 16)  -- from 2020 on
local given = redis.call('HGET', KEYS[1], 'ids')
if not tonumber(given) then return redis.error_reply('BROKEN ' .. KEYS[1] .. ' ids ' .. tostring(given)) end
local last = math.max(tonumber(given), floor) + tonumber(ARGV[1])
last = string.format('%.0f', last)
redis.call('HSET', KEYS[1], 'ids', last)
return last
