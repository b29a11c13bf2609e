-- A message as the mover copies it: which set it is in (DUE, ODD, DEAD, DONE), score, body, past. Nil if it is not
-- in that set, or has no body.
local PLACES = { DUE, ODD, DEAD, DONE }
local function entry_of(set, member)
  local score, body = call('ZSCORE', PLACES[set], member), call('HGET', MSGS, member)
  if not score or not body then return nil end
  local at = plain(tonumber(score))
  local past = (set == 3 or (set < 3 and at % 1 ~= 0)) and call('HGET', PAST, member)
  return cmsgpack.pack({ set, format('%.1f', at), body, past }), tonumber(score), past, #body
end
