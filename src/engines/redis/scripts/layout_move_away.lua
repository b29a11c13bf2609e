-- Move away: removes a message that lives in another store now, if it is unchanged here. ARGV: from 7 on, three for
-- each message: member, the expected due time, and in a HASH the body's SHA-1 (empty: any body). Answers for each
-- 'done', 'kept' (it has another due time or another body now), 'in_flight' (it is leased) or 'unknown'.
free_first()
local replies, moved = {}, 0

-- Removes the body, which a call that was stopped may have left.
local function finish(member, seen)
  if LAYOUT ~= 'hash' or seen == '' then return 'unknown' end
  for set = 1, KEYS[M + 3] and M or 1 do
    local body = call('HGET', bodies_of(set), member)
    if body and redis.sha1hex(body) == seen then
      call('HDEL', bodies_of(set), member)
      moved = moved + 1
      return 'done'
    end
  end
  return 'unknown'
end

local function move_away(member, due, seen)
  local lease = read_lease(name_of_lease(member))
  local set, score = find(member)
  if lease then return lease[STOPPING] and 'unknown' or 'in_flight' end
  if not set then return finish(member, seen) end
  if format('%.0f', due_of(score)) ~= due then return 'kept' end
  if LAYOUT == 'hash' then
    local body = call('HGET', bodies_of(set), member)
    if not body or seen ~= '' and redis.sha1hex(body) ~= seen then return 'kept' end
  end
  for each = 1, M do remove(each, member) end
  call('DEL', name_of_lease(member))
  moved = moved + 1
  return 'done'
end

for at = 7, #ARGV, 3 do
  replies[#replies + 1] = move_away(ARGV[at], ARGV[at + 1], ARGV[at + 2])
end
-- The count shows a process that moves messages away whether another one does so too. It is kept for a
-- week after the last move.
if moved > 0 then
  local name = LEASES .. 'moved'
  call('SET', name, format('%.0f', (tonumber(call('GET', name) or 0) or 0) + moved), 'PX', '604800000')
end
return replies
