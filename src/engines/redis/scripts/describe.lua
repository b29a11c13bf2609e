-- Describes one message: member, place ('w' waiting, 'l' leased, 'd' dead, 'r' remembered), score in whole ms (of a
-- waiting or leased message: the due time), the body or only the part before the payload, tallies or nil, the lease's
-- end or nil, '1' if the message is stopping. `score` of a leased message is its value in LEASED.
local function describe(member, state, score, body, with_payload)
  local told = { member, sub(state, 1, 1), '', body, false, false, '' }
  if state ~= 'remembered' and not with_payload then told[4] = sub(body, 1, #body - payload_of(body)) end
  local has_past = state == 'dead'
  if state == 'waiting' then
    score = plain(score)
    has_past = score % 1 ~= 0
  elseif state == 'leased' then
    told[6] = call('ZSCORE', LEASES, group_in(score))
    told[7] = is_stopping(score) and '1' or ''
    score = leased_score(member, score)
    has_past = score % 1 ~= 0
  end
  told[3] = format('%.0f', floor(score))
  if has_past then told[5] = call('HGET', PAST, member) end
  return told
end
