-- The facts of a message for get and list: key, state (its first letter; y is ready, p is stopping), due, the rest of
-- its lease in ms, its attempts. Nothing for a missing message.
local function describe(member, score)
  local name = name_of_lease(member)
  local lease = read_lease(name)
  if lease then
    return key_of(member), lease[STOPPING] and 'p' or 'l', format('%.0f', lease[DUE]),
      format('%.0f', lease[ENDS] - now), lease[ATTEMPT] or 1
  end
  if not score then return nil end
  local due = due_of(score)
  return key_of(member), tonumber(score) <= now / UNIT and 'y' or 's', format('%.0f', due), '',
    attempts_of(name, score)
end
