-- Extend. ARGV: from 7 on, three for each message: lease, nonce, ms from now. Answers for each 1
-- (done) or 0 (stale).
free_first()
local replies = {}
for at = 7, #ARGV, 3 do
  local name = LEASES .. ARGV[at]
  local lease = read_lease(name)
  if lease and lease[NONCE] == ARGV[at + 1] then
    if lease[STOPPING] then finish_stopping(lease) end
    lease[FORMER] = call('ZSCORE', KEYS[lease[SET]], lease[MEMBER])
    lease[SCORE], lease[ENDS] = lease_until(later + tonumber(ARGV[at + 2]), lease[NONCE])
    write_lease(name, lease)
    if not lease[STOPPING] then
      call('ZADD', KEYS[lease[SET]], lease[SCORE], lease[MEMBER])
      tell_head(lease[MEMBER], lease[SCORE])
    end
    replies[#replies + 1] = 1
  else
    replies[#replies + 1] = 0
  end
end
return replies
