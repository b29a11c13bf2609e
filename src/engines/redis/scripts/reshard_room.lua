-- Makes the names that closing a shard gives to its bodies and due times: all keys of a shard must always exist. The
-- script is refused while the slot moves, because the shard could not be closed then. KEYS: 1 and 2 these names.
-- ARGV: 1 a key of the same slot under which nothing ever is.
if redis.pcall('TYPE', ARGV[1]).err then
  return redis.error_reply('TRYAGAIN the slot of ' .. KEYS[1] .. ' is moving')
end
redis.call('HSET', KEYS[1], '', '')
redis.call('ZADD', KEYS[2], '+inf', '')
return 1
