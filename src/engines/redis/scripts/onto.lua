-- Pushes of keys that may be taken. The answers go into `reply`.
local reply = { now, later }

local function tell(i, outcome, id, due)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = i, outcome, id
  reply[at + 4] = format('%.0f', due)
end

local function push_new(member, body, due)
  call('HSET', MSGS, member, body)
  put_waiting(member, due, priority_of(body))
  count('accepted')
end

-- The verb table's first row.
local function push_onto(i, member, body, due, rule)
  local state, score, old = locate(member)
  if not state then return push_new(member, body, due) end
  if rule == 'd' then rule = setting('if_exists') end
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
    move_waiting(member, score, priority_of(old), due, priority_of(body), body)
    count('replaced')
    count('accepted')
    if before % 1 ~= 0 then call('HDEL', PAST, member) end
    return tell(i, 'replaced', id_of(member, body), due)
  end
  local moves = (rule == 'e' and due < floor(before)) or (rule == 'l' and due > floor(before))
  if not moves then return tell(i, 'kept', id, floor(before)) end
  local priority = priority_of(old)
  move_waiting(member, score, priority, due + before % 1, priority)
  count('reschedules')
  tell(i, 'moved', id, due)
end
