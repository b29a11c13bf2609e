-- The mover's third step: messages that have not changed since they were read leave this shard. ARGV: 5 the turn.
-- Answers the members that have changed since: their copies are void.
local SETS = { 'w', 'w', 'd', 'r' }
local void = {}
for _, member in ipairs(in_hand()) do
  local noted = call('HGET', CLAIMS, 'h' .. member)
  if noted then
    local set = tonumber(sub(noted, 1, 1))
    local copy, score = entry_of(set, member)
    if copy and redis.sha1hex(copy) == sub(noted, 2) then
      if set == 2 then take_waiting(member, score, 0) else call('ZREM', PLACES[set], member) end
      count('left_' .. SETS[set])
      if expiry then expiry.leave({ member }) end
      forget_left(member)
    elseif not has_left(member) then
      void[#void + 1] = member
    end
  end
end
return finish(void)
