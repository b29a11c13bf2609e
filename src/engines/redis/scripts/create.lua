-- A shard of a queue, made if it is not there. Each of its keys holds a placeholder for good: while a
-- cluster moves a slot, a script with a key that is not there would be told to try again for ever.
--
-- KEYS as for all scripts on a shard. ARGV: 1 the generation, 2 the settings. Answers 1 where it was
-- made.
local META, MSGS, DUE, ODD, READY, LEASED, CLAIMS, LEASES, PAST, DEAD, DONE, HEADS, AGENDA =
  unpack(KEYS)
local call = redis.call
for i = 2, #KEYS do
  local sorted = KEYS[i] ~= MSGS and KEYS[i] ~= CLAIMS and KEYS[i] ~= PAST and KEYS[i] ~= LEASED
  local kind = call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= (sorted and 'zset' or 'hash') then
    return redis.error_reply('FOREIGN ' .. KEYS[i] .. ' is a ' .. kind)
  end
end
if call('HGET', META, 'generation') then return 0 end
for _, key in ipairs({ DUE, ODD, READY, LEASES, DEAD, DONE, HEADS, AGENDA }) do
  call('ZADD', key, '+inf', '')
end
-- Longer than what Redis packs: a packed hash is searched from end to end.
for _, key in ipairs({ MSGS, LEASED, CLAIMS, PAST }) do call('HSET', key, '', string.rep('-', 65)) end
call('HSET', META, 'generation', ARGV[1], 'settings', ARGV[2])
return 1
