-- Makes a shard of a queue if it is missing. Each of the shard's keys always holds a placeholder, because while a
-- cluster moves a slot, Redis answers TRYAGAIN to every script with a missing key.
--
-- KEYS as for all scripts on a shard. ARGV: 1 the generation, 2 the settings, 3 until when it is paused (as in META;
-- '-': it is not), 4 '1' if only the placeholders are wanted yet. Answers 1 if it was made.
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
  -- If a removed shard had this name, only a later generation of the same store may make it again. A store with
  -- another secret was made after everything had been deleted. Its generations count from 0, so it may always do so.
  local gone, secret = string.match(known, '^gone (%d+) ?(.*)$')
  local number = tonumber(string.match(ARGV[1], '%.(%d+)$') or 0)
  local is_other = gone and secret ~= '' and secret ~= string.match(ARGV[1], '^[^.]*')
  if not gone or number <= tonumber(gone) and not is_other then return 0 end
end
-- A shard whose room was prepared is made even while Redis is full, because the queue's verbs wait for it. `soon` is
-- META's only field then, so it is deleted last.
if known or soon then call('HDEL', META, '') end
for _, key in ipairs({ DUE, ODD, READY, LEASES, DEAD, DONE, HEADS, AGENDA }) do
  call('ZADD', key, '+inf', '')
end
-- The placeholder is longer than values that Redis packs, because Redis searches a packed hash from
-- end to end.
for _, key in ipairs({ MSGS, LEASED, CLAIMS, PAST }) do call('HSET', key, '', string.rep('-', 65)) end
if ARGV[4] == '1' then
  call('HSET', META, 'soon', 1)
  return 0
end

-- Deletes all fields of a hash except one.
local function clear(key, but)
  local cursor = '0'
  repeat
    local found = call('HSCAN', key, cursor, 'COUNT', 500)
    cursor = found[1]
    for i = 1, #found[2], 2 do
      if found[2][i] ~= but then call('HDEL', key, found[2][i]) end
    end
  until cursor == '0'
end
local written = { 'generation', ARGV[1], 'settings', ARGV[2] }
if ARGV[3] ~= '-' then written[5], written[6] = 'paused', ARGV[3] end
if known then
  -- Clears what is left of a removed shard of this name. No key is deleted: META says `gone` until the new shard
  -- exists, and while a cluster moves the slot, a deleted key could not be made again.
  for _, key in ipairs({ DUE, ODD, READY, LEASES, DEAD, DONE }) do call('ZREMRANGEBYRANK', key, 0, -2) end
  for _, key in ipairs({ MSGS, LEASED, CLAIMS, PAST }) do clear(key, '') end
  -- A removed queue's META has an expiry. A user who was made for an older program may not remove that.
  local PERSIST = 'PERSIST'
  local kept = redis.pcall(PERSIST, META)
  if type(kept) == 'table' then call('DEL', META) else clear(META, 'generation') end
end
call('HSET', META, unpack(written))
if soon then call('HDEL', META, 'soon') end
return 1
