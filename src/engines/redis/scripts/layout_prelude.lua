-- The beginning of every script on a queue of a layout: its keys, the time, scores and leases.
-- docs/formats/redis-layouts.md describes the keys.
--
-- KEYS: the ZSETs (M of them), the set-aside entries, and then the HASHes (one, or M), or Redisson's list of entries
-- and the list that consumers pop from. ARGV: 1 layout, 2 the time in ms (tests only; empty: the server's), 3 how the
-- names of leases begin, 4 ms in a unit of a score, 5 M, 6 Redisson's channel; the script's own arguments follow.
local LAYOUT, LEASES, UNIT, M, CHANNEL = ARGV[1], ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6]
local ASIDE, LIST, DEST = KEYS[M + 1], KEYS[M + 2], KEYS[M + 3]
local ceil = math.ceil

if may then
  local name = LEASES .. 'rights'
  local all = may('ZADD', KEYS[1], 0, '') and may('ZREM', KEYS[1], '') and may('ZSCORE', KEYS[1], '')
    and may('ZRANGE', KEYS[1], 0, 0) and may('SET', name, '') and may('GET', name) and may('DEL', name)
  if LAYOUT == 'hash' then
    all = all and may('HSET', LIST, '', '') and may('HDEL', LIST, '') and may('HGET', LIST, '')
      and may('HEXISTS', LIST, '')
  elseif LAYOUT == 'redisson' then
    all = all and may('RPUSH', LIST, '') and may('LREM', LIST, 0, '') and may('LPOP', LIST)
      and may('RPUSH', DEST, '') and may('LPOP', DEST) and may('LINDEX', LIST, 0)
  end
  if not all then return redis.error_reply('NOPERM this user may not do all that scripts do to ' .. KEYS[1]) end
end

for i = 1, #KEYS do
  local expected = i <= M + 1 and 'zset' or LAYOUT == 'hash' and 'hash' or 'list'
  local found = call('TYPE', KEYS[i]).ok
  if found ~= 'none' and found ~= expected then
    return redis.error_reply('MISFIT ' .. KEYS[i] .. ' is a ' .. found .. '; layout ' .. LAYOUT
      .. ' has a ' .. expected .. ' there')
  end
end

-- Other programs may write any score. A score that is no valid time becomes the nearest valid time.
local function due_of(score)
  local due = ceil(tonumber(score) * UNIT)
  if due < 0 then return 0 end
  return due > 7289654399999 and 7289654399999 or due
end
-- Today's times in seconds, read as milliseconds, lie in 1970; the other way round they lie far in the future. A
-- score in the range from WRONG_FROM up to WRONG_TO is such a time, in the other unit. Scores that fit neither
-- unit (0 for "at once") are taken as they are.
local WRONG_FROM, WRONG_TO = 1e9, 1e12
if UNIT > 1 then WRONG_FROM, WRONG_TO = 1e11, 7289654400000 end
-- In tests the clock may show any time; then units are not checked.
local looks_at_units = LAYOUT ~= 'redisson' and now >= 1e12
local function is_wrong(score)
  local at = tonumber(score)
  return looks_at_units and at >= WRONG_FROM and at < WRONG_TO
end
-- The score of a time, rounded up; but a time that is due already stays due.
local function score_of(ms)
  return format('%.0f', ms > now and ceil(ms / UNIT) or floor(ms / UNIT))
end
-- "+250" is a delay, anything else a time; nothing for a time over 100 years away.
local function due_time(text)
  if byte(text, 1) ~= 43 then
    local due = tonumber(text)
    return due <= now + 3155760000000 and due or nil
  end
  local delay = tonumber(sub(text, 2))
  return delay > 0 and later + delay or now
end
local DUE_NOW = format('%.17g', now / UNIT)

-- A first write that is allowed while Redis is full, so that scripts that free memory go through.
local function free_first() call('DEL', LEASES .. 'none') end

local function bodies_of(set) return KEYS[M + 1 + set] or KEYS[M + 2] end

-- Redisson's entry: id and value; nothing for bytes that are no entry. Every id has 8 bytes: with 7 the new form
-- would look like the old form of an id that begins with a 7.
local function unpack_entry(entry)
  if byte(entry, 1) == 8 and #entry >= 17 and struct.unpack('L', entry, 10) == #entry - 17 then
    return sub(entry, 2, 9), sub(entry, 18), false
  end
  if #entry >= 16 and struct.unpack('L', entry, 9) == #entry - 16 then
    return sub(entry, 1, 8), sub(entry, 17), true
  end
end
-- Clients that know only one form fail on an entry of the other form. `form`: 'old' or 'new'.
local function pack_entry(form, id, value)
  local packed = id .. struct.pack('L', #value) .. value
  return form == 'old' and packed or '\8' .. packed
end

local function hex_of(bytes)
  return (string.gsub(bytes, '.', function(c) return format('%02x', byte(c)) end))
end
-- A message's key, as clients see it.
local function key_of(member)
  if LAYOUT == 'redisson' then
    local id = unpack_entry(member)
    return id and hex_of(id) or 'sha1:' .. redis.sha1hex(member)
  end
  if #member > 0 and #member <= 512 then return member end
  return 'sha1:' .. redis.sha1hex(member)
end

local function find(member)
  for set = 1, M do
    local score = call('ZSCORE', KEYS[set], member)
    if score then return set, score end
  end
end

local function remove_body(set, member)
  if LAYOUT ~= 'hash' then return 0 end
  -- One HASH may serve many ZSETs, and the member may be in another of them.
  for other = 1, KEYS[M + 3] and 0 or M do
    if other ~= set and call('ZSCORE', KEYS[other], member) then return 0 end
  end
  return call('HDEL', bodies_of(set), member)
end
-- If `remove` is stopped in between, it leaves an entry that is in the ZSET alone, or a body without a member.
-- Neither claims nor other programs take these for damage.
local function remove(set, member, from_tail)
  if LAYOUT == 'redisson' then call('LREM', LIST, from_tail and -1 or 1, member) end
  return call('ZREM', KEYS[set], member) + remove_body(set, member) > 0
end

local function set_aside(set, member, score)
  call('ZADD', ASIDE, score, member)
  remove(set, member)
end

-- If the member is the queue's head, publishes its score, because Redisson's timers follow these
-- times.
local function tell_head(member, score)
  if LAYOUT == 'redisson' and call('ZRANGE', KEYS[1], 0, 0)[1] == member then
    redis.pcall('PUBLISH', CHANNEL, score)
  end
end

-- A lease's score, and when it ends in ms. Programs that count in seconds write whole numbers. So if scores
-- are seconds, a lease's score gets a fraction, made from the claim's nonce. No other program writes such a
-- score.
local function lease_until(ms, nonce)
  local score = score_of(ms)
  if UNIT > 1 then
    local parts = tonumber(sub(nonce, 1, 5), 16) % 1048575 + 1
    score = format('%.17g', tonumber(score) - 1 + parts / 1048576)
    if tonumber(score) * UNIT < ms then score = format('%.17g', tonumber(score) + 1) end
  end
  return score, ceil(tonumber(score) * UNIT)
end

-- A lease: { nonce, when it ends, the score until then, due, score before, set, member, stopping ('a': an ack has
-- begun), whether its entry is at the list's tail, SHA-1 of a body in a HASH, the score before an extension, how many
-- attempts the message has had (not in leases of older versions) }. A program that writes another score, or removes
-- the member, has ended it. A lease that has ended stays for a day, as the count of attempts of a message with that
-- score.
local NONCE, ENDS, SCORE, DUE, WAS, SET, MEMBER, STOPPING, TAIL, BODY = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
local FORMER, ATTEMPT = 11, 12
local COUNT_KEPT_MS = 86400000
-- A stopped extension may have changed the lease but not the ZSET: then the score before it counts.
local function has_score_of(lease, score)
  local at = tonumber(score)
  return at and (at == tonumber(lease[SCORE]) or at == tonumber(lease[FORMER]))
end
local function read_lease(name)
  local text = call('GET', name)
  if not text then return nil end
  local lease = cmsgpack.unpack(text)
  if lease[ENDS] <= now then return nil end
  if lease[STOPPING] then return lease end
  return has_score_of(lease, call('ZSCORE', KEYS[lease[SET]], lease[MEMBER])) and lease or nil
end
local function write_lease(name, lease, due)
  if ARGV[2] ~= '' then return call('SET', name, cmsgpack.pack(lease)) end
  call('SET', name, cmsgpack.pack(lease), 'PXAT', format('%.0f', math.max(lease[ENDS], due or 0) + COUNT_KEPT_MS))
end
local function name_of_lease(member) return LEASES .. redis.sha1hex(member) end

-- The message's last lease, if it has ended and the message still has this score; otherwise
-- nothing.
local function read_ended(name, score)
  local text = call('GET', name)
  local lease = text and cmsgpack.unpack(text)
  if lease and lease[ENDS] <= now and not lease[STOPPING] and has_score_of(lease, score) then return lease end
end
local function attempts_of(name, score)
  local ended = read_ended(name, score)
  return ended and (ended[ATTEMPT] or 1) or 0
end
-- Ends a lease. The count of attempts is kept with the message's new score; a count of 0 is
-- forgotten.
local function end_lease(name, lease, attempts, score)
  if attempts == 0 then return call('DEL', name) end
  lease[ENDS], lease[SCORE], lease[FORMER], lease[ATTEMPT] = math.min(lease[ENDS], now), score, false, attempts
  write_lease(name, lease, due_of(score))
end
-- Gives a message that is not leased another score.
local function move_to(set, member, before, score)
  local name = name_of_lease(member)
  local ended = read_ended(name, before)
  call('ZADD', KEYS[set], score, member)
  if ended then end_lease(name, ended, ended[ATTEMPT] or 1, score) end
end

-- Removes the delivered message. If its body has changed, the body stays: a producer is pushing the key again, and
-- its ZADD comes next.
local function remove_leased(lease)
  local set, member = lease[SET], lease[MEMBER]
  local body = lease[BODY] and call('HGET', bodies_of(set), member)
  if body and redis.sha1hex(body) ~= lease[BODY] then
    call('ZREM', KEYS[set], member)
  else
    remove(set, member, lease[TAIL])
  end
end
-- Completes a cancel or an ack that has begun. A message that was pushed again meanwhile has
-- another score, and stays.
local function finish_stopping(lease)
  local score = call('ZSCORE', KEYS[lease[SET]], lease[MEMBER])
  if has_score_of(lease, score) or not score and lease[STOPPING] == 'a' then remove_leased(lease) end
end
