-- Claims the named messages. ARGV, after those of layout_take.lua: 12 '1' if messages that are not due are claimed
-- too; then the members.
free_first()
for i = 13, #ARGV do
  if left == 0 or full then break end
  local set, score = find(ARGV[i])
  if set and not read_lease(name_of_lease(ARGV[i]))
    and (ARGV[12] == '1' or tonumber(score) <= now / UNIT) then
    if is_wrong(score) then
      reply[6] = score
    else
      take(set, ARGV[i], score)
    end
  end
end

-- Other overdue messages do not concern this claim.
local soonest
for i = 13, #ARGV do
  local set, score = find(ARGV[i])
  if set then
    local lease = read_lease(name_of_lease(ARGV[i]))
    local at = lease and ceil(lease[ENDS]) or due_of(score)
    if not soonest or at < soonest then soonest = at end
  end
end
return finish(soonest)
