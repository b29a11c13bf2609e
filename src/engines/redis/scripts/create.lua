-- A shard of a queue, made if it is not there. Each of its keys holds a placeholder for good: while a
-- cluster moves a slot, a script with a key that is not there would be told to try again for ever.
--
-- KEYS as for all scripts on a shard. ARGV: 1 the generation, 2 the settings, 3 until when it is paused (as in
-- META; '-': it is not), 4 '1' where only the placeholders are wanted yet. Answers 1 where it was made.
local META, MSGS, DUE, ODD, READY, LEASED, CLAIMS, LEASES, PAST, DEAD, DONE, HEADS, AGENDA =
  unpack(KEYS)
local call = redis.call
local hashes = { [META] = 1, [MSGS] = 1, [CLAIMS] = 1, [PAST] = 1, [LEASED] = 1 }
for _, key in ipairs(KEYS) do
  local kind = call('TYPE', key).ok
  if kind ~= 'none' and kind ~= (hashes[key] and 'hash' or 'zset') then
    return redis.error_reply('FOREIGN ' .. key .. ' is a ' .. kind)
  end
end
local known, soon = unpack(call('HMGET', META, 'generation', 'soon'))
if known then
  -- Where a shard of that name has been, only a later generation may have one,
  -- of that store: one made anew after all was deleted counts from 0 again.
  local gone, secret = string.match(known, '^gone (%d+) ?(.*)$')
  local number = tonumber(string.match(ARGV[1], '%.(%d+)$') or 0)
  local is_other = gone and secret ~= '' and secret ~= string.match(ARGV[1], '^[^.]*')
  if not gone or number <= tonumber(gone) and not is_other then return 0 end
end
-- What was made room for is made also while Redis is full: the queue's verbs wait for it.
if known or soon then call('HDEL', META, 'soon') end
-- What a late writer left under the names of a shard that is no more.
if known then call('DEL', MSGS, DUE) end
for _, key in ipairs({ DUE, ODD, READY, LEASES, DEAD, DONE, HEADS, AGENDA }) do
  call('ZADD', key, '+inf', '')
end
-- Longer than what Redis packs: a packed hash is searched from end to end.
for _, key in ipairs({ MSGS, LEASED, CLAIMS, PAST }) do call('HSET', key, '', string.rep('-', 65)) end
if ARGV[4] == '1' then
  call('HSET', META, 'soon', 1)
  return 0
end
if known then call('DEL', META) end  -- of a removed queue it has an end
call('HSET', META, 'generation', ARGV[1], 'settings', ARGV[2])
if ARGV[3] ~= '-' then call('HSET', META, 'paused', ARGV[3]) end
return 1
