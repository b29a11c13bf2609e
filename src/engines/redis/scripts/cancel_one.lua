-- The due time and the past of a waiting or dead message. If another program removed its past, it has none.
local function due_and_past(member, state, score)
  local due = floor(plain(score))
  local text = (state == 'dead' or plain(score) % 1 ~= 0) and call('HGET', PAST, member)
  if not text or #text < 24 then return due, { 0, 0, 0, 0, 0, 0 } end
  if state == 'dead' and #text >= 30 then due = struct.unpack('<I6', text, 25) end
  return due, read_past(text)
end

-- The state of a message: id, due time, priority, claims, place. If the message lives in another store
-- now, it must not have changed here.
local function seen_of(member, state, score, body)
  local due, past = due_and_past(member, state, score)
  return id_of(member, body) .. format('%.0f %.0f %.0f ', due, priority_of(body), past[2]) .. sub(state, 1, 1)
end

-- Cancels one message: 'cancelled', 'stopping', 'unknown', or {'settled', how, when}. `seen`: for a message that
-- lives in another store now, its expected state; then also 'done', 'kept', 'in_flight'.
local function cancel_one(member, seen)
  local state, score, body = locate(member)
  if not state then return 'unknown' end
  if state == 'remembered' then return settlement(body) end
  if state == 'leased' then
    if seen then return 'in_flight' end
    if not is_stopping(score) then call('HSET', LEASED, member, score .. '!') end
    return 'stopping'
  end
  if seen and seen ~= seen_of(member, state, score, body) then return 'kept' end
  local due, past
  local remembers = not seen and setting('remember') > 0
  if remembers then due, past = due_and_past(member, state, score) end
  local has_past = true
  if state == 'waiting' then
    take_waiting(member, score, priority_of(body))
    has_past = score % 1 ~= 0
  else
    call('ZREM', DEAD, member)
  end
  count(seen and 'moved_away' or 'cancelled')
  if remembers then
    remember_end(member, body, due, past, CANCELLED)
  else
    call('HDEL', MSGS, member)
  end
  if has_past then call('HDEL', PAST, member) end
  if expiry then expiry.leave({ member }, { body }) end
  return seen and 'done' or 'cancelled'
end
