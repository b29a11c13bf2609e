-- Closes a shard: from now on it takes no new key, and a process that knows only the old shards gets an error. Bodies
-- and due times are renamed: a push by plain commands checks the generation last, and undoes its writes under the old
-- names.
--
-- Between the first and the last write META's generation is one that no process has, so every other script is
-- refused, and its caller calls this again. A key that already has a closed name is never overwritten.
--
-- KEYS as for all scripts on a shard, then the other names of MSGS and DUE. ARGV: 1 the generation that is
-- closed, 2 the new one, 3 and 4 as in the prelude, 5 a key of the same slot under which nothing ever is. Answers
-- the settings, and until when it is paused (nil: not).
local META, MSGS, DUE, HEADS = KEYS[1], KEYS[2], KEYS[3], KEYS[12]
local CLOSED_MSGS, CLOSED_DUE = KEYS[14], KEYS[15]
local call = redis.call
local generation, settings, paused = unpack(call('HMGET', META, 'generation', 'settings', 'paused'))
if not generation then return redis.error_reply('GONE the queue is not there') end
local HALF = ARGV[2] .. ' closing'
if generation ~= ARGV[1] and generation ~= HALF then
  if generation ~= ARGV[2] then return redis.error_reply('STALE the queue has other shards now') end
  return { settings, paused }
end
-- While a cluster moves the slot away, missing keys cannot be written. So a key that is renamed now could not be
-- made again.
if redis.pcall('TYPE', ARGV[5]).err then
  return redis.error_reply('TRYAGAIN the slot of ' .. META .. ' is moving')
end

call('HDEL', META, '')  -- a first write that is allowed while Redis is full
call('HSET', META, 'generation', HALF)

-- Both names have messages only if an older program was stopped in the middle of this. The smaller set is merged into
-- the larger; if a member is in both, the entry under the closed name counts.
local function close(from, to, size, join)
  local here, there = size(from), size(to)
  if there > 0 and here > there then
    join(to, from, true)
    there = 0
  end
  if there > 0 then
    if here > 0 then join(from, to, false) end
  elseif call('TYPE', from).ok ~= 'none' then
    call('RENAME', from, to)
  end
end
local function bodies_in(key) return call('HLEN', key) - call('HEXISTS', key, '') end
local function members_of(key) return call('ZCARD', key) - (call('ZSCORE', key, '') and 1 or 0) end
local PLACEHOLDER = string.rep('-', 65)
close(MSGS, CLOSED_MSGS, bodies_in, function(from, to, overwrites)
  local found = call('HGETALL', from)
  for i = 1, #found, 2 do
    if overwrites or call('HEXISTS', to, found[i]) == 0 then call('HSET', to, found[i], found[i + 1]) end
    if found[i] ~= '' then call('HDEL', from, found[i]) end
  end
end)
call('HSET', MSGS, '', PLACEHOLDER)
call('HSET', CLOSED_MSGS, '', PLACEHOLDER)
close(DUE, CLOSED_DUE, members_of, function(from, to, overwrites)
  local found = call('ZRANGE', from, 0, -1, 'WITHSCORES')
  for i = 1, #found, 2 do
    if overwrites or not call('ZSCORE', to, found[i]) then call('ZADD', to, found[i + 1], found[i]) end
    if found[i] ~= '' then call('ZREM', from, found[i]) end
  end
end)
call('ZADD', DUE, '+inf', '')
call('ZADD', CLOSED_DUE, '+inf', '')
call('ZADD', HEADS, 0, ARGV[3])
call('HSET', META, 'generation', ARGV[2], 'head', 0)
redis.pcall(PUBLISH, ARGV[4], ARGV[3])  -- waiting processes look, and learn of the new shards
return { settings, paused }
