-- Cancel. ARGV: from 7 on, the members. Answers for each 'cancelled', 'stopping' or 'unknown'.
free_first()
local replies = {}
for i = 7, #ARGV do
  local member = ARGV[i]
  local name = name_of_lease(member)
  local lease = read_lease(name)
  if lease and not lease[STOPPING] then
    -- The lease is kept, because the holder of the receipt may still end its work. It is written before the
    -- removal, which may be stopped: without its member, only a stopping lease is valid.
    lease[STOPPING] = true
    write_lease(name, lease)
  end
  local removed = false
  for set = 1, M do removed = remove(set, member) or removed end
  if not lease then call('DEL', name) end
  replies[#replies + 1] = lease and 'stopping' or removed and 'cancelled' or 'unknown'
end
return replies
