-- Purge: removes a slice of the messages that are not leased. ARGV: 5 how many. Answers how many were removed, and
-- '1' if there is more.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time()
local left, purged = tonumber(ARGV[5]), 0

local function purge(members)
  if #members == 0 then return end
  call('HDEL', MSGS, unpack(members))
  call('HDEL', PAST, unpack(members))
  if expiry then expiry.leave(members) end
  left, purged = left - #members, purged + #members
end

local function front(key)
  if left <= 0 then return {} end
  local members = call('ZRANGE', key, 0, left - 1)
  if members[#members] == '' then members[#members] = nil end  -- the placeholder is the last
  return members
end

local due = front(DUE)
if #due > 0 then
  call('ZREM', DUE, unpack(due))
  count('purged', #due)
end
purge(due)

local odd = {}
for _, member in ipairs(front(ODD)) do
  take_waiting(member, tonumber(call('ZSCORE', ODD, member)), 0)
  count('purged')
  odd[#odd + 1] = member
end
purge(odd)

local dead = {}
for _, member in ipairs(front(DEAD)) do
  if tonumber(call('ZSCORE', DEAD, member)) <= now then
    expire(member)
  else
    call('ZREM', DEAD, member)
    count('purged')
    dead[#dead + 1] = member
  end
end
purge(dead)
local more = call('ZCARD', DUE) + call('ZCARD', ODD) + call('ZCARD', DEAD) > 3
return finish({ purged, more and 1 or 0 })
