-- Pushes of keys that may be taken. The answers go into `reply`.
local reply = { now, later }
local is_move = false  -- true: the messages come from another store, with the expiry that they had there

local function tell(i, outcome, id, due)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = i, outcome, id
  reply[at + 4] = format('%.0f', due)
  return outcome
end

local function push_new(member, body, due)
  call('HSET', MSGS, member, body)
  put_waiting(member, due, body)
  count('accepted')
end

-- The verb table's first row. 'expires' and 'late' are refusals: a message would not be due before a fixed expiry, its
-- own, or that of the message that is there. 'late' has this moment in place of the id.
local function push_onto(i, member, body, due, rule)
  local state, score, old = locate(member)
  if state and rule == 'd' then rule = setting('if_exists') end
  if expiry and (not state or (rule == 'p' and state ~= 'leased')) then
    body = expiry.of_push(body, due, is_move)
    if not body then return tell(i, 'expires', '', due) end
  end
  if not state then return push_new(member, body, due) end
  local id = id_of(member, old)
  if state == 'leased' then
    return tell(i, 'in_flight', id, floor(leased_score(member, score)))
  end
  if state == 'remembered' then
    if rule ~= 'p' then
      local _, _, _, was = struct.unpack('<BBI6I6', old)
      return tell(i, 'settled', id, was)
    end
    call('ZREM', DONE, member)
    return push_new(member, body, due)
  end
  if state == 'dead' then
    if rule ~= 'p' then
      local text = call('HGET', PAST, member)
      return tell(i, 'exists', id, (struct.unpack('<I6', text, 25)))
    end
    push_new(member, body, due)
    count('replaced')
    call('ZREM', DEAD, member)
    call('HDEL', PAST, member)
    return tell(i, 'revived', id_of(member, body), due)
  end
  local before = plain(score)
  if rule == 'r' then return tell(i, 'exists', id, floor(before)) end
  if rule == 'p' then
    move_waiting(member, score, old, due, body)
    if expiry and band(flags_of(body), HAS_EXPIRY) == 0 then expiry.leave({ member }, { old }) end
    count('replaced')
    count('accepted')
    if before % 1 ~= 0 then call('HDEL', PAST, member) end
    return tell(i, 'replaced', id_of(member, body), due)
  end
  local moves = (rule == 'e' and due < floor(before)) or (rule == 'l' and due > floor(before))
  if not moves then return tell(i, 'kept', id, floor(before)) end
  local moment = expiry and expiry.before(old, due)
  if moment then return tell(i, 'late', format('%.0f', moment), due) end
  move_waiting(member, score, old, due + before % 1, expiry and expiry.moved(old, due) or old)
  count('reschedules')
  tell(i, 'moved', id, due)
end
