-- The store's record, made if it is missing. KEYS: 1 tarry:{0}:store, 2 tarry:{0}:queues, 3 tarry:{0}:numbers; the
-- last two always hold a placeholder, as a shard's keys do. ARGV: 1 schema, 2 partitions, 3 the secret for the
-- check of generated keys, 4 the oldest schema that is used, 5 the time in ms (tests only; empty: the server's).
-- Answers schema, partitions and secret as they are, and now; adds nothing to a record that the caller will refuse.
for _, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  if kind ~= 'none' and kind ~= 'hash' then
    return redis.error_reply('FOREIGN ' .. key .. ' is a ' .. kind)
  end
end
local now = ARGV[5]
if now == '' then
  local time = redis.call('TIME')
  now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
end
local schema, partitions, secret = unpack(redis.call('HMGET', KEYS[1], 'schema', 'partitions', 'secret'))
if schema then
  local known = (tonumber(schema) or 0) >= tonumber(ARGV[4]) and tonumber(schema) <= tonumber(ARGV[1])
  if not known or not tonumber(partitions or '') or not string.find(secret or '', '^%d+$') then
    return { schema, partitions, secret, now }
  end
end
-- An existing record is not written again: that would be refused while Redis is full.
if not schema then
  redis.call('HSET', KEYS[1], 'schema', ARGV[1], 'partitions', ARGV[2], 'secret', ARGV[3], 'ids', 0)
end
for i = 2, 3 do
  if redis.call('HEXISTS', KEYS[i], '') == 0 then redis.call('HSET', KEYS[i], '', '') end
end
schema, partitions, secret = unpack(redis.call('HMGET', KEYS[1], 'schema', 'partitions', 'secret'))
return { schema, partitions, secret, now }
