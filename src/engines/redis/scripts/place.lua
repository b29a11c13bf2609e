-- The places of messages (waiting, leased, dead, remembered), and how a message moves from one to another.
--
-- A waiting message's score is its due time in ms, and half a ms more if it has a past (an attempt, a revival: then
-- PAST has its tallies). With default priority it waits in DUE; otherwise in ODD. Once a message in ODD is found due,
-- it is in READY too, by priority and due, and its score in ODD is BIG more.
if may and not (may('HGET', META, '') and may('HEXISTS', META, '') and may('HLEN', META)
  and may('HGETALL', META) and may('HSCAN', META, 0) and may('ZSCORE', META, '') and may('ZCARD', META)
  and may('ZCOUNT', META, 0, 0) and may('ZRANGE', META, 0, 0) and may('ZRANGEBYSCORE', META, 0, 0)
  and may('ZREVRANGE', META, 0, 0) and may('ZMSCORE', META, '')) then
  return redis.error_reply('NOPERM this user may not read all that scripts read of ' .. META)
end

local BIG = 2 ^ 50
local DEFAULT_PRIORITY = 1024
local HAS_ID, HAS_PRIORITY, HAS_MAX, HAS_HEADERS, HAS_PUSHED, HAS_EXPIRY, REMEMBERED = 1, 2, 4, 8, 16, 32, 128
local band = bit.band

-- The flags of a body. A body that is shorter than its flags say is damaged, and has no flags here, so that only
-- its own message suffers.
local function flags_of(body)
  local flags = byte(body) or 0
  local size = flags >= REMEMBERED and 42 or 5
  if band(flags, HAS_ID) ~= 0 then size = size + 6 end
  if flags < REMEMBERED then
    if band(flags, HAS_PRIORITY) ~= 0 then size = size + 4 end
    if band(flags, HAS_MAX) ~= 0 then size = size + 2 end
    if band(flags, HAS_EXPIRY) ~= 0 then size = size + 12 end
    if band(flags, HAS_PUSHED) ~= 0 then size = size + 3 end
    if band(flags, HAS_HEADERS) ~= 0 then size = size + 2 end
  end
  return #body >= size and flags or 0
end

local function priority_of(body)
  local flags = flags_of(body)
  if band(flags, HAS_PRIORITY) == 0 then return DEFAULT_PRIORITY end
  return (struct.unpack('<I4', body, band(flags, HAS_ID) ~= 0 and 12 or 6))
end

local function max_attempts_of(body)
  local flags = flags_of(body)
  if band(flags, HAS_MAX) == 0 then return setting('max_attempts') end
  local at = 6
  if band(flags, HAS_ID) ~= 0 then at = at + 6 end
  if band(flags, HAS_PRIORITY) ~= 0 then at = at + 4 end
  return (struct.unpack('<I2', body, at))
end

-- The same body with another priority.
local function with_priority(body, priority)
  local flags = flags_of(body)
  local at = band(flags, HAS_ID) ~= 0 and 12 or 6
  local rest = band(flags, HAS_PRIORITY) ~= 0 and at + 4 or at
  local field = ''
  flags = band(flags, 255 - HAS_PRIORITY)
  if priority ~= DEFAULT_PRIORITY then
    flags = flags + HAS_PRIORITY
    field = struct.pack('<I4', priority)
  end
  return string.char(flags) .. sub(body, 2, at - 1) .. field .. sub(body, rest)
end

-- The message's id, six bytes.
local function id_of(member, body)
  if band(flags_of(body), HAS_ID) == 0 then return member end
  if flags_of(body) >= REMEMBERED then return sub(body, 19, 24) end
  return sub(body, 6, 11)
end

-- ---- what it has been through: attempt, claims, run-outs, releases, buries, revives

local function read_past(text) return { struct.unpack('<I4I4I4I4I4I4', text) } end
local function pack_past(past) return struct.pack('<I4I4I4I4I4I4', unpack(past, 1, 6)) end
local function past_of(member, has_past)
  local text = has_past and call('HGET', PAST, member)
  return text and read_past(text) or { 0, 0, 0, 0, 0, 0 }
end

-- The number of a leased message's attempt. Beyond 65535 attempts are not counted.
local function attempt_of(past) return math.min(past[1] + 1, 65535) end

-- ---- waiting

-- A member of READY. Within one priority, READY is sorted by due time.
local function ready_member(member, score) return struct.pack('>I8', score * 2) .. member end

local function put_waiting(member, score, body)
  local priority = priority_of(body)
  if expiry then expiry.await(member, body) end
  -- META's `odd` comes first, because only then claims look into ODD and READY.
  if priority ~= DEFAULT_PRIORITY and not has_odd then
    call('HSET', META, 'odd', 1)
    has_odd = '1'
  end
  if priority == DEFAULT_PRIORITY then
    call('ZADD', DUE, score, member)
  elseif floor(score) <= now then
    call('ZADD', READY, priority, ready_member(member, score))
    call('ZADD', ODD, BIG + score, member)
  else
    call('ZADD', ODD, score, member)
  end
  wake(floor(score))
end

local function take_waiting(member, score, priority)
  if priority == DEFAULT_PRIORITY then
    call('ZREM', DUE, member)
    return
  end
  -- The entry in ODD is removed last, because all verbs find a message by it, and nobody looks into
  -- READY while ODD is empty.
  if score >= BIG then call('ZREM', READY, ready_member(member, score - BIG)) end
  call('ZREM', ODD, member)
end

-- Moves a waiting message to another due time, with another body perhaps. At any moment the body's priority says
-- where the message is.
local function move_waiting(member, score, old, due, body)
  local was, becomes = priority_of(old), priority_of(body)
  put_waiting(member, due, body)
  if body ~= old then call('HSET', MSGS, member, body) end
  if was == DEFAULT_PRIORITY then
    if becomes ~= DEFAULT_PRIORITY then call('ZREM', DUE, member) end
  elseif becomes == DEFAULT_PRIORITY then
    take_waiting(member, score, was)
  elseif score >= BIG then
    local old = ready_member(member, score - BIG)
    if floor(due) > now or old ~= ready_member(member, due) then call('ZREM', READY, old) end
  end
end

-- A score in DUE or ODD without BIG.
local function plain(score) return score >= BIG and score - BIG or score end

-- ---- leased: LEASED has the message's group, followed by '!' once the message is cancelled. A group is the
-- messages of one claim or of one extension. CLAIMS has the group's members, and the runs of their scores. A bulk
-- claim has nothing in LEASED until it is spread.

local function group_in(lease) return byte(lease, -1) == 33 and sub(lease, 1, -2) or lease end
local function is_stopping(lease) return byte(lease, -1) == 33 end

-- If a group's entry cannot be unpacked: its members, found in LEASED, as if they were due now.
local function strays_of(group)
  local members, runs = {}, {}
  local leases = call('HGETALL', LEASED)
  for i = 1, #leases, 2 do
    local member = leases[i]
    if member ~= '' and group_in(leases[i + 1]) == group then
      members[#members + 1] = member
      runs[#runs + 1] = call('HEXISTS', PAST, member) == 1 and now + 0.5 or now
      runs[#runs + 1] = 1
    end
  end
  return members, runs
end

-- The group's members and the runs of their scores; nil if its entry cannot be unpacked.
local function unpacked(group)
  local packed = call('HGET', CLAIMS, group)
  if not packed then return {}, {} end
  local whole, members, runs = pcall(cmsgpack.unpack, packed)
  if whole and type(members) == 'table' and type(runs) == 'table' then return members, runs end
  return nil
end

local function members_of(group)
  local members, runs = unpacked(group)
  if members then return members, runs end
  return strays_of(group)
end

-- How many messages the bulk claim took; nil if the group is no bulk claim.
local function bulk_size(group)
  local _, last = string.find(bulk, ' ' .. group .. ':', 1, true)
  return last and string.match(bulk, '^(%d+);', last + 1)
end

-- At most n messages that are in no place. Call it when all other bulk claims have been spread: then these
-- messages belong to a bulk claim whose entry another program has overwritten. Only in that case all bodies are
-- looked at.
local function owned_by_none(n)
  local members, cursor = {}, '0'
  repeat
    local found = call('HSCAN', MSGS, cursor, 'COUNT', 500)
    cursor = found[1]
    for i = 1, #found[2], 2 do
      local member = found[2][i]
      local owned = member == '' or call('HEXISTS', LEASED, member) == 1
      for _, key in ipairs({ DUE, ODD, DEAD, DONE }) do
        owned = owned or call('ZSCORE', key, member)
      end
      if not owned and #members < n then members[#members + 1] = member end
    end
  until cursor == '0' or #members == n
  return members
end

-- Gives a bulk claim's messages their entries in LEASED: from then on it is an ordinary claim.
local spread_all
local function spread(group)
  local n = bulk_size(group)
  if not n then return end
  call('HDEL', META, '')  -- a first write that is allowed while Redis is full
  bulk = without_claim(group, n)
  local members = call('HEXISTS', CLAIMS, group) == 1 and unpacked(group)
  if not members then
    spread_all()
    members = owned_by_none(tonumber(n))
  end
  local entries = {}
  for i = 1, #members do entries[2 * i - 1], entries[2 * i] = members[i], group end
  if #members > 0 then call('HSET', LEASED, unpack(entries)) end
  call('HSET', CLAIMS, 'n' .. group, #members)
  call('HSET', META, 'bulk', bulk)  -- last: a failure above has changed nothing that counts
end
function spread_all()
  for group in string.gmatch(bulk, ' ([%d-]+):') do spread(group) end
end

local groups = {}
local function scores_of(key)
  if not groups[key] then
    local members, runs = members_of(key)
    local scores, at = {}, 0
    for r = 1, #runs, 2 do
      local score = tonumber(runs[r])
      for i = at + 1, at + runs[r + 1] do scores[members[i]] = score end
      at = at + runs[r + 1]
    end
    groups[key] = scores
  end
  return groups[key]
end

-- A leased message's due time, plus the half if it has a past.
local function leased_score(member, lease) return scores_of(group_in(lease))[member] or now end

local function leave_group(key, n)
  freed = true
  if call('HINCRBY', CLAIMS, 'n' .. key, -n) <= 0 then
    call('HDEL', CLAIMS, key, 'n' .. key, 'o' .. key)
    call('ZREM', LEASES, key)
  end
end

-- True if the lease has run out although `apply_time` has not ended it yet. `apply_time` ends them slice by slice.
local function is_over(lease)
  if agenda > now then return false end
  local till = call('ZSCORE', LEASES, group_in(lease))
  return till and tonumber(till) <= now
end

-- True if a message with that lease (or false: none) is held by the claim `fence`.
local function is_held(lease, fence)
  if not lease or is_over(lease) then return false end
  if lease == fence then return true end
  local group = group_in(lease)
  return group == fence or call('HGET', CLAIMS, 'o' .. group) == fence
end

-- ---- endings

local function forget(member)
  call('ZREM', DONE, member)
  call('HDEL', MSGS, member)
end

local function expire(member)
  -- A revival that was stopped in the middle has left the message in two places.
  local waits = call('ZSCORE', DUE, member) or call('ZSCORE', ODD, member)
  call('ZREM', DEAD, member)
  if waits then return end
  count('expired')
  call('HDEL', MSGS, member)
  call('HDEL', PAST, member)
end

local ACKED, CANCELLED, EXPIRED = 0, 1, 2
-- Remembers the key of an ended message, if the queue has a `remember`. `claim`: the claim that acked it.
local function remember_end(member, body, due, past, ending, claim)
  local till = now + setting('remember')
  local id = band(flags_of(body), HAS_ID) ~= 0 and sub(body, 6, 11) or ''
  call('HSET', MSGS, member,
    struct.pack('<BBI6I6I4', REMEMBERED + (id ~= '' and HAS_ID or 0), ending, now, due, priority_of(body))
      .. id .. pack_past(past) .. (claim or ''))
  call('ZADD', DONE, till, member)
  expect(till)
end

-- Ends a leased message: acked by `claim`, or cancelled meanwhile. `score` as in its group. The caller then removes
-- it from LEASED, and counts it.
local function conclude(member, score, ending, claim)
  local has_past = score % 1 ~= 0
  local remember = setting('remember')
  local body = remember > 0 and call('HGET', MSGS, member)
  if body and (byte(body) or 0) >= REMEMBERED then  -- written by a call that was stopped then
    call('ZADD', DONE, now + remember, member)
    expect(now + remember)
  elseif body then
    local past = past_of(member, has_past)
    past[1], past[2] = attempt_of(past), past[2] + 1
    remember_end(member, body, floor(score), past, ending, claim)
  else
    call('HDEL', MSGS, member)
  end
  if has_past then call('HDEL', PAST, member) end
end

-- True if the message is remembered, and that claim acked it.
local function was_acked_by(member, claim)
  local till = call('ZSCORE', DONE, member)
  if not till or tonumber(till) <= now then return false end
  local body = call('HGET', MSGS, member) or ''
  local flags = flags_of(body)
  if flags < REMEMBERED or byte(body, 2) ~= ACKED then return false end
  return sub(body, band(flags, HAS_ID) ~= 0 and 49 or 43) == claim
end

-- Makes the message dead. PAST then also has its due time and the reason.
local function die(member, due, past, reason)
  local till = now + setting('dead_keep')
  call('HSET', PAST, member, pack_past(past) .. struct.pack('<I6', due) .. reason)
  call('ZADD', DEAD, till, member)
  expect(till)
  if watched then wake(now) end
end

-- ---- time: leases that ran out, messages that expire, dead and remembered ones that are no longer kept. This comes
-- before anything else that a script does, so that verbs find the present state.

local function run_out(member, score, stopping)
  local body = not stopping and call('HGET', MSGS, member)
  if not body or (byte(body) or 0) >= REMEMBERED then  -- ended although it was claimed, as that claim was stopped
    if stopping then conclude(member, score, CANCELLED) end
    call('HDEL', LEASED, member)
    if stopping then count('cancelled') end
    return
  end
  local past = past_of(member, score % 1 ~= 0)
  past[1], past[2], past[3] = attempt_of(past), past[2] + 1, past[3] + 1
  local most = max_attempts_of(body)
  if past[1] >= most then
    die(member, floor(score), past,
      'its lease ran out in attempt ' .. past[1] .. ' of ' .. most)
  else
    call('HSET', PAST, member, pack_past(past))
    put_waiting(member, floor(score) + 0.5, body)
  end
  call('HDEL', LEASED, member)
  count('run_outs')
end

local function note_agenda()
  local first = math.huge
  for _, key in ipairs({ LEASES, DEAD, DONE }) do
    local score = call('ZRANGE', key, 0, 0, 'WITHSCORES')[2]
    if score ~= 'inf' then first = math.min(first, plain(tonumber(score))) end
  end
  if expiry then first = math.min(first, expiry.first()) end
  agenda = first
  if first == math.huge then
    call('HDEL', META, 'agenda')
    call('ZREM', AGENDA, ARGV[3])
  else
    call('ZADD', AGENDA, first, ARGV[3])
    call('HSET', META, 'agenda', first)
  end
end

-- Does a slice of that work: leases of at most twice as many messages as one claim may take, and 500 expiries at most.
-- True if there may be more to do.
local function apply_time(slice)
  if agenda > now then return false end
  call('HDEL', META, '')  -- a first write that is allowed while Redis is full
  slice = slice or 20
  local ended = call('ZRANGEBYSCORE', LEASES, '-inf', now, 'LIMIT', 0, slice)
  local handled = 0
  for _, key in ipairs(ended) do
    if handled >= 500 then break end
    freed = true
    spread(key)
    for member, score in pairs(scores_of(key)) do
      local lease = call('HGET', LEASED, member)
      if lease and group_in(lease) == key then run_out(member, score, is_stopping(lease)) end
      handled = handled + 1
    end
    call('HDEL', CLAIMS, key, 'n' .. key, 'o' .. key)
    call('ZREM', LEASES, key)
    groups[key] = nil
  end
  local expired = expiry and expiry.apply(500) or 0
  local dead = call('ZRANGEBYSCORE', DEAD, '-inf', now, 'LIMIT', 0, slice)
  for _, member in ipairs(dead) do expire(member) end
  local done = call('ZRANGEBYSCORE', DONE, '-inf', now, 'LIMIT', 0, slice)
  for _, member in ipairs(done) do forget(member) end
  note_agenda()
  return handled >= 500 or #ended == slice or expired == 500 or #dead == slice or #done == slice
end

-- The clock was set back: members of READY that are no longer due wait in ODD again.
local function apply_step()
  local early = call('ZRANGEBYSCORE', ODD, format('(%.2f', BIG + now + 0.75), '(+inf',
    'WITHSCORES', 'LIMIT', 0, 1000)
  for i = 1, #early, 2 do
    local member, score = early[i], tonumber(early[i + 1])
    call('ZADD', ODD, score - BIG, member)
    call('ZREM', READY, ready_member(member, score - BIG))
    wake(floor(score - BIG))
  end
end

-- ---- finding: the message's place ('waiting', 'leased', 'dead', 'remembered' or nil); its score there, or its lease;
-- its body

local function locate(member)
  local body = call('HGET', MSGS, member)
  if not body then return nil end
  if (byte(body) or 0) >= REMEMBERED then
    local till = flags_of(body) > 0 and call('ZSCORE', DONE, member)
    if not till or tonumber(till) <= now then
      forget(member)
      return nil
    end
    return 'remembered', tonumber(till), body
  end
  local score = call('ZSCORE', priority_of(body) == DEFAULT_PRIORITY and DUE or ODD, member)
  if score and expiry and expiry.is_behind and expiry.has_come(body) then
    expiry.conclude(member, tonumber(score), body)
    return locate(member)
  end
  if score then return 'waiting', tonumber(score), body end
  score = call('ZSCORE', DEAD, member)
  if score and tonumber(score) <= now then
    expire(member)
    return nil
  end
  if score then return 'dead', tonumber(score), body end
  local lease = call('HGET', LEASED, member)
  if not lease and bulk_total() > 0 then
    spread_all()
    lease = call('HGET', LEASED, member)
  end
  if not lease then return nil end
  if not is_over(lease) then return 'leased', lease, body end
  run_out(member, leased_score(member, lease), is_stopping(lease))
  leave_group(group_in(lease), 1)
  if expiry then expiry.is_behind = true end
  return locate(member)
end

-- How and when the message was settled, for an answer.
local function settlement(body)
  local _, ending, when = struct.unpack('<BBI6', body)
  return { 'settled', ending, format('%.0f', when) }
end

-- The due time that a request asks for: '+ms' counts from now on, otherwise ms since 1970. nil:
-- over 100 years away.
local MOST_AHEAD = 36525 * 24 * 3600 * 1000
local function due_time(text)
  local value = tonumber(text)
  if byte(text) == 43 then return value > 0 and later + value or now end
  if value - now > MOST_AHEAD then return nil end
  return value
end
