-- Reschedule. ARGV: from 7 on, three for each message: set, member, due. Answers for each its outcome and its due
-- time.
local replies = {}
for at = 7, #ARGV, 3 do
  local member, due = ARGV[at + 1], due_time(ARGV[at + 2])
  local lease = read_lease(name_of_lease(member))
  local set, before = find(member)
  local outcome = 'rescheduled'
  if not due then
    outcome, due = 'far', 0
  elseif lease then
    outcome, due = 'in_flight', lease[DUE]
  elseif not set then
    -- A body without a member gets its member back, and so is revived.
    set = tonumber(ARGV[at])
    local had = LAYOUT == 'hash' and call('HEXISTS', bodies_of(set), member) == 1
    outcome = had and 'revived' or 'unknown'
  end
  if outcome == 'rescheduled' or outcome == 'revived' then
    local score = score_of(due)
    move_to(set, member, before, score)
    tell_head(member, score)
    due = due_of(score)
  end
  replies[#replies + 1] = outcome
  replies[#replies + 1] = format('%.0f', due)
end
return replies
