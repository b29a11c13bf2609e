-- Closes a shard: from now on it takes no new key, and who knows only the old shards is told so. Bodies and
-- due times go under other names: a push by plain commands looks at the generation last, and takes back what it
-- wrote under the old ones.
--
-- KEYS as for all scripts on a shard, then the other names of MSGS and DUE. ARGV: 1 the generation that is
-- closed, 2 the new one, 3 and 4 as in the prelude. Answers the settings, and until when it is paused (nil: not).
local META, MSGS, DUE, HEADS = KEYS[1], KEYS[2], KEYS[3], KEYS[12]
local CLOSED_MSGS, CLOSED_DUE = KEYS[14], KEYS[15]
local call = redis.call
local generation, settings, paused = unpack(call('HMGET', META, 'generation', 'settings', 'paused'))
if not generation then return redis.error_reply('GONE the queue is not there') end
if generation == ARGV[1] then
  call('RENAME', MSGS, CLOSED_MSGS)
  call('RENAME', DUE, CLOSED_DUE)
  call('HSET', MSGS, '', '')
  call('ZADD', DUE, '+inf', '')
  call('HSET', META, 'generation', ARGV[2], 'head', 0)
  call('ZADD', HEADS, 0, ARGV[3])
  redis.pcall(PUBLISH, ARGV[4], ARGV[3])  -- who waits there looks, and learns of the new shards
elseif generation ~= ARGV[2] then
  return redis.error_reply('STALE the queue has other shards now')
end
return { settings, paused }
