-- Common functions of claims: claimed messages are collected, and `lease_out` writes them as one
-- group.
local members, scores, bodies = {}, {}, {}
local fence = ''

-- Scores up to this one are due now: due times are whole, and a past adds half a ms.
local DUE_NOW = format('%.0f.75', now)

-- How many of `found` fit into the remaining bytes; one message fits in any case. At first `used` counts whole
-- bodies; only when these do not fit, it counts payloads alone.
local used, exact = 0, false
local function fitting(found, n, most, first_anyway)
  if not exact then
    local all = used
    for i = 1, n do all = all + (found[i] and #found[i] or 0) end
    if all <= most then
      used = all
      return n
    end
    exact, used = true, 0
    for i = 1, #bodies do used = used + (bodies[i] and payload_of(bodies[i]) or 0) end
  end
  for i = 1, n do
    local size = found[i] and payload_of(found[i]) or 0
    if used + size > most and not (first_anyway and #bodies == 0 and i == 1) then return i - 1 end
    used = used + size
  end
  return n
end

local function add(member, score, body)
  local i = #bodies + 1
  members[i], scores[i], bodies[i] = member, score, body
end

-- Writes the leases of the collected messages. Answers the lease's length in ms, the runs, and the claim's entry.
local function lease_out(lease)
  local n, leased_args = #bodies, {}
  if n == 0 then return 0, {}, '' end
  if gate then gate.pay(n) end
  local runs = runs_of(scores)
  local entry = cmsgpack.pack(members, runs)
  -- The claim's number contains the time, because a crash or a failover may undo the counter.
  fence = format('%.0f-%.0f', now, call('HINCRBY', META, 'claims', n))
  call('ZADD', LEASES, now + lease, fence)
  expect(now + lease)
  note_deadline()
  for i = 1, n do
    leased_args[2 * i - 1] = members[i]
    leased_args[2 * i] = fence
  end
  call('HSET', CLAIMS, fence, entry, 'n' .. fence, n)
  call('HSET', LEASED, unpack(leased_args))
  return lease, runs, entry
end

-- Finds out when the next message will be due (a text; '' if that is not known), and puts it into
-- heads.
local function note_head()
  local was = head
  head = call('ZRANGE', DUE, 0, 0, 'WITHSCORES')[2]
  if call('ZCARD', ODD) > 1 then
    local odd = call('ZRANGE', ODD, 0, 0, 'WITHSCORES')[2]
    if odd ~= 'inf' then
      local score = plain(tonumber(odd))
      if head == 'inf' or score < tonumber(head) then head = format('%.0f', floor(score)) end
      -- Messages that were found due already come after the others in ODD; READY has them.
      if call('ZCARD', READY) > 1 then head = format('%.0f', now) end
    end
  end
  if tonumber(head) ~= was then
    call('HSET', META, 'head', head)
    call('ZADD', HEADS, head, ARGV[3])
  end
  local found = head == 'inf' and '' or head
  head = tonumber(head)
  if soonest < head then soonest = head end  -- sooner messages have been taken
  return found
end

-- When to look again: the head, a lease's end or a pause's end, whichever comes first.
local function look_again(found)
  local again = found ~= '' and tonumber(found) or math.huge
  local lease = call('ZRANGE', LEASES, 0, 0, 'WITHSCORES')[2]
  if tonumber(lease) < BIG then again = math.min(again, tonumber(lease)) end  -- the next ones are expiries
  if paused then again = paused ~= '' and tonumber(paused) or math.huge end
  return again == math.huge and '' or format('%.0f', math.ceil(again))
end

-- The answer if nothing may be claimed.
local function paused_reply() return { now, 0, '', '', {}, false, look_again('') } end
