-- Reschedules one message. An empty priority leaves it unchanged. Answers 'unknown', 'far', {'in_flight', due},
-- {'rescheduled' or 'revived', due}, {'settled', how, when}, or {'late', due, when it expires}.
local function reschedule_one(member, text, priority)
  local state, score, body = locate(member)
  if not state then return 'unknown' end
  if state == 'remembered' then return settlement(body) end
  if state == 'leased' then
    return { 'in_flight', format('%.0f', floor(leased_score(member, score))) }
  end
  local due = due_time(text)
  if not due then return 'far' end
  local moment = expiry and state == 'waiting' and expiry.before(body, due)
  if moment then return { 'late', format('%.0f', due), format('%.0f', moment) } end
  -- Everything that may fail comes before the first change.
  local was, changed = priority_of(body), expiry and expiry.moved(body, due) or body
  if priority ~= '' then changed = with_priority(changed, tonumber(priority)) end
  local becomes = priority_of(changed)
  if becomes ~= was or state == 'dead' then  -- the key for its new place may not be ours
    call('ZSCORE', becomes == DEFAULT_PRIORITY and DUE or ODD, member)
  end
  if becomes ~= DEFAULT_PRIORITY and due <= now then call('ZSCORE', READY, member) end
  local outcome = 'rescheduled'
  if state == 'waiting' then
    move_waiting(member, score, body, due + score % 1, changed)
    count('reschedules')
  else
    local past = read_past(call('HGET', PAST, member))
    past[1], past[6] = 0, past[6] + 1
    if changed ~= body then call('HSET', MSGS, member, changed) end
    put_waiting(member, due + 0.5, changed)
    call('ZREM', DEAD, member)
    call('HSET', PAST, member, pack_past(past))
    count('revives')
    outcome = 'revived'
  end
  return { outcome, format('%.0f', due) }
end
