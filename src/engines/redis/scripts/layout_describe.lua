-- What get and list tell of a message: key, state (its first letter; y is ready, p is stopping),
-- due, what is left of its lease in ms. Nothing of what is not there.
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
