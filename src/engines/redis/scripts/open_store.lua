-- The store's record, made if it is not there. KEYS: 1 tarry:{0}:store, 2 tarry:{0}:queues,
-- 3 tarry:{0}:numbers; the last two hold a placeholder for good, as a shard's keys do. ARGV: 1 schema,
-- 2 partitions, 3 the secret that made keys are checked by. Answers schema, partitions and secret as
-- they are.
for _, key in ipairs(KEYS) do
  local kind = redis.call('TYPE', key).ok
  if kind ~= 'none' and kind ~= 'hash' then
    return redis.error_reply('FOREIGN ' .. key .. ' is a ' .. kind)
  end
end
if redis.call('HSETNX', KEYS[1], 'schema', ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], 'partitions', ARGV[2], 'secret', ARGV[3], 'ids', 0)
end
redis.call('HSETNX', KEYS[2], '', '')
redis.call('HSETNX', KEYS[3], '', '')
return redis.call('HMGET', KEYS[1], 'schema', 'partitions', 'secret')
