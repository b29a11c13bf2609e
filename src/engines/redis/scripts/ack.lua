-- Ack, in the cases that ack_fast.lua does not handle.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time()
local remember = setting('remember')
local results, stale, at = {}, false, 5
while at <= #ARGV do
  local fence, n, n_past = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
  local first = at + 4
  at = first + n
  spread(fence)
  local leases = call('HMGET', LEASED, unpack(ARGV, first, at - 1))
  local live, with_past, left = {}, {}, {}
  for i = 1, n do
    local lease = leases[i]
    local held = is_held(lease, fence)
    local again = not held and was_acked_by(ARGV[first + i - 1], fence)
    results[#results + 1] = (held or again) and 1 or 0
    if held then
      local member = ARGV[first + i - 1]
      live[#live + 1] = member
      if i > n - n_past then with_past[#with_past + 1] = member end
      local group = group_in(lease)
      left[group] = (left[group] or 0) + 1
    else
      stale, leases[i] = stale or not again, false
    end
  end
  if #live > 0 then
    if remember > 0 then
      for i = 1, n do
        local member = ARGV[first + i - 1]
        if leases[i] then conclude(member, leased_score(member, leases[i]), ACKED, fence) end
      end
    else
      call('HDEL', MSGS, unpack(live))
      if #with_past > 0 then call('HDEL', PAST, unpack(with_past)) end
    end
    count('acked', call('HDEL', LEASED, unpack(live)))
    for group, gone in pairs(left) do leave_group(group, gone) end
  end
end
return finish(stale and results or 0)
