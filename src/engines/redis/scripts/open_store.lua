-- The store's record, made if it is not there. KEYS: 1 tarry:{0}:store. ARGV: 1 schema, 2 partitions,
-- 3 the secret that made keys are checked by. Answers schema, partitions and secret as they are.
local kind = redis.call('TYPE', KEYS[1]).ok
if kind ~= 'none' and kind ~= 'hash' then
  return redis.error_reply('FOREIGN ' .. KEYS[1] .. ' is a ' .. kind)
end
if redis.call('HSETNX', KEYS[1], 'schema', ARGV[1]) == 1 then
  redis.call('HSET', KEYS[1], 'partitions', ARGV[2], 'secret', ARGV[3], 'ids', 0)
end
return redis.call('HMGET', KEYS[1], 'schema', 'partitions', 'secret')
