-- Cancel. ARGV: from 7 on, the members. Answers for each 'cancelled', 'stopping' or 'unknown'.
free_first()
local replies = {}
for i = 7, #ARGV do
  local member = ARGV[i]
  local name = name_of_lease(member)
  local lease = read_lease(name)
  local removed = false
  for set = 1, M do removed = remove(set, member) or removed end
  if lease then
    -- Kept for the receipt that is out: its holder may end what it has begun.
    lease[STOPPING] = true
    write_lease(name, lease)
  end
  replies[#replies + 1] = lease and 'stopping' or removed and 'cancelled' or 'unknown'
end
return replies
