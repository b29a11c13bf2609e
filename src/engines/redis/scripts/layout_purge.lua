-- Removes up to 500 messages that are not leased; up to 100 of Redisson's, because each removal walks through the
-- LIST. ARGV: 7 set (M + 1: the list that consumers pop from), 8 the rank to begin with: messages before it are
-- leased. Answers how many were removed, and the rank to continue with (-1: this was the end).
free_first()
local set, from = tonumber(ARGV[7]), tonumber(ARGV[8])
local most = LAYOUT == 'redisson' and 100 or 500
if set > M then
  local popped = call('LPOP', DEST, 500)
  local count = popped and #popped or 0
  return { count, count == 500 and 0 or -1 }
end
local found = call('ZRANGE', KEYS[set], from, from + most - 1)
local kept = 0
for i = 1, #found do
  if read_lease(name_of_lease(found[i])) then
    kept = kept + 1
  else
    -- The body is removed first, so that a stopped purge finds the member again.
    remove_body(set, found[i])
    remove(set, found[i])
    call('DEL', name_of_lease(found[i]))
  end
end
return { #found - kept, #found == most and from + kept or -1 }
