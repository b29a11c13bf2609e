-- The facts of a message for get and list: key, state (its first letter; y is ready, p is stopping), due, the rest of
-- its lease in ms. Nothing for a missing message.
local function describe(member, score)
  local lease = read_lease(name_of_lease(member))
  if lease then
    return key_of(member), lease[STOPPING] and 'p' or 'l', format('%.0f', lease[DUE]),
      format('%.0f', lease[ENDS] - now)
  end
  if not score then return nil end
  local due = due_of(score)
  return key_of(member), tonumber(score) <= now / UNIT and 'y' or 's', format('%.0f', due), ''
end
