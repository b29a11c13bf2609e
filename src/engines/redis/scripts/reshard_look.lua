-- The contents of the shard: how many messages, how many of them leased, noted or held members, META's fields. ARGV:
-- 5 the turn; 0: the caller does not move.
apply_time()
local members = {}
for _, member in ipairs(in_hand()) do
  if call('HEXISTS', CLAIMS, 'h' .. member) == 1 and not has_left(member) then
    members[#members + 1] = member
  end
end
finish()
return { call('HLEN', MSGS) - 1, call('HLEN', LEASED) - 1 + bulk_total(), members, call('HGETALL', META) }
