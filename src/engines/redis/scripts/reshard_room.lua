-- Makes the names that closing a shard gives to its bodies and due times: all keys of a shard exist for good.
-- KEYS: 1 and 2 these.
redis.call('HSET', KEYS[1], '', '')
redis.call('ZADD', KEYS[2], '+inf', '')
return 1
