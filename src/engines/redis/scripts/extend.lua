-- Extend: the messages leave their group for a new one that ends later; they still belong to their claim.
--
-- ARGV: from 5 on, runs of one claim and lease each: the claim's number, lease in ms (empty: the
-- queue's), how many members, and the members. Answers 1 or 0 for each.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time()
local has_ended = freed  -- a lease
local results, at = {}, 5
while at <= #ARGV do
  local fence, n = ARGV[at], tonumber(ARGV[at + 2])
  local lease = ARGV[at + 1] ~= '' and tonumber(ARGV[at + 1]) or setting('lease')
  local first = at + 3
  at = first + n
  spread(fence)
  local leases = call('HMGET', LEASED, unpack(ARGV, first, at - 1))
  local members, scores, entries, left, seen = {}, {}, {}, {}, {}
  local group
  for i = 1, n do
    local member = ARGV[first + i - 1]
    local held = is_held(leases[i], fence)
    results[#results + 1] = held and 1 or 0
    if held and not seen[member] then
      seen[member] = true
      group = group or format('%.0f-e%.0f', now, call('HINCRBY', META, 'extensions', 1))
      local lease = leases[i]
      local due = leased_score(member, lease)
      members[#members + 1] = member
      scores[#scores + 1] = due % 1 == 0 and format('%.0f', due) or format('%.1f', due)
      entries[#entries + 1] = member
      entries[#entries + 1] = is_stopping(lease) and group .. '!' or group
      local old = group_in(lease)
      left[old] = (left[old] or 0) + 1
    end
  end
  if group then
    call('ZADD', LEASES, now + lease, group)
    expect(now + lease)
    note_deadline()
    -- The group is written before its members refer to it: a member of no group never ends with a lease.
    call('HSET', CLAIMS, group, cmsgpack.pack(members, runs_of(scores)), 'n' .. group, #members,
      'o' .. group, fence)
    call('HSET', LEASED, unpack(entries))
    for old, gone in pairs(left) do leave_group(old, gone) end
  end
end
freed = has_ended
return finish(results)
