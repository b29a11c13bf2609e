-- Claim these. ARGV, behind those of layout_take.lua: 12 '1' if what is not due goes out too; then
-- the members.
free_first()
for i = 13, #ARGV do
  if left == 0 or full then break end
  local set, score = find(ARGV[i])
  if set and not read_lease(name_of_lease(ARGV[i]))
    and (ARGV[12] == '1' or tonumber(score) <= now / UNIT) then
    take(set, ARGV[i], score)
  end
end
return finish()
