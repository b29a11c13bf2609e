-- A block of ids. KEYS: 1 tarry:{0}:store. ARGV: 1 how many, 2 the time in ms (tests only; empty: the
-- server's). Answers the last one, as a text.
--
-- No id is given twice, although a crash or a failover may make Redis forget ids that it gave. Ids run ahead of the
-- time, 16 a ms; and a server gives its first block far above the ids that it knows. A replication id belongs to one
-- master, from its start or its promotion on.
if redis.call('HEXISTS', KEYS[1], 'schema') == 0 then
  return redis.error_reply('GONE the store is not there')
end
local now = tonumber(ARGV[2])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end
local floor = math.max(0, (now - 1577836800000) * 16)  -- from 2020 on
local given, giver, gave = unpack(redis.call('HMGET', KEYS[1], 'ids', 'giver', 'gave'))
if not tonumber(given) then return redis.error_reply('BROKEN ' .. KEYS[1] .. ' ids ' .. tostring(given)) end
given = tonumber(given)
local last = math.max(given, floor)
local info = redis.pcall('INFO', 'replication')  -- a service that has none in scripts does without gaps
local server = type(info) == 'string' and string.match(info, 'master_replid:(%x+)') or ''
if server ~= giver then
  -- Servers that know the same ids, one after the other, are separated by the time since then, at 1,024 a ms. The
  -- later one must begin above all ids that the former gave, because it counts up and would run through them. Beyond
  -- 2^20 ms the gap grows only as fast as the time itself provides ids; otherwise a store that is rarely used would
  -- soon have no ids left. In a store from before `gave` nobody knows since when: then the time modulo 2^20 is used.
  local since = tonumber(gave) and math.max(0, now - gave) or now % 2 ^ 20
  last = last + 2 ^ 28 + 16 * since + 1008 * math.min(since, 2 ^ 20)
end
last = string.format('%.0f', last + tonumber(ARGV[1]))
redis.call('HSET', KEYS[1], 'ids', last, 'giver', server, 'gave', string.format('%.0f', now))
return last
