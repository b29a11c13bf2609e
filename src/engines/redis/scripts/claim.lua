-- Claim, in the cases that claim_fast.lua does not handle: leases that ran out, other priorities,
-- long bodies, nothing due.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
if paused then return paused_reply() end
apply_time()
-- If more messages have expired than that has ended, the caller calls again.
if expiry and agenda <= now and call('ZCOUNT', LEASES, BIG, format('%.0f', BIG + now)) > 0 then
  return finish({ now, -1, '', '', {}, false, format('%.0f', now) })
end

local most_bytes, first_anyway = tonumber(ARGV[7]), ARGV[8] == '1'
local left = tonumber(ARGV[5])
if gate then left = math.min(left, gate.open()) end
local full = false
local due_taken, ready_taken = 0, {}  -- taken away when the leases are written: each has its place always

-- Bodies are read before their length is known. So the first read takes as many as fit in any case; later reads take
-- about as many as fit by the average length so far.
local LARGEST = tonumber(largest) or 1048576
local function chunk()
  local n = #bodies
  local average = math.max(4096, n == 0 and LARGEST or math.max(used / n, LARGEST / 8))
  return math.max(1, math.min(left, 500, floor((most_bytes - used) / average)))
end

local function take_due()
  while left > 0 and not full do
    local asked = chunk()
    local found = call('ZRANGEBYSCORE', DUE, '-inf', DUE_NOW, 'WITHSCORES', 'LIMIT', due_taken, asked)
    local n = #found / 2
    if n == 0 then return end
    local these = {}
    for i = 1, n do these[i] = found[2 * i - 1] end
    local read = call('HMGET', MSGS, unpack(these))
    local taken = fitting(read, n, most_bytes, first_anyway)
    full = taken < n
    due_taken = due_taken + taken
    for i = 1, taken do add(these[i], found[2 * i], read[i]) end
    left = left - taken
    if n < asked then return end
  end
end

-- Messages of another priority that have fallen due go from ODD's front to its back, and into READY;
-- two thousand in one call; the next claims find the others.
local function find_odd()
  for _ = 1, 2 do
    local found = call('ZRANGEBYSCORE', ODD, '-inf', DUE_NOW, 'WITHSCORES', 'LIMIT', 0, 1000)
    for i = 1, #found, 2 do
      local member, score = found[i], tonumber(found[i + 1])
      local body = call('HGET', MSGS, member)
      if body then
        call('ZADD', READY, priority_of(body), ready_member(member, score))
        call('ZADD', ODD, BIG + score, member)
      else
        call('ZREM', ODD, member)
        count('damaged')
      end
    end
    if #found < 2000 then return end
  end
end

-- Skips priorities that have nothing due any more, a thousand a call: `apply_step` takes as many out of READY, so the
-- next call gets further.
local MOST_SKIPS, skips = 1000, 0
local function take_ready(from, to, skipped, most)
  local asked = math.min(chunk(), most)
  local found = left > 0 and not full
    and call('ZRANGEBYSCORE', READY, from, to, 'WITHSCORES', 'LIMIT', skipped, asked) or {}
  for i = 1, #found, 2 do
    local entry = found[i]
    local member, score = sub(entry, 9), struct.unpack('>I8', entry) / 2
    -- The clock was set back, and this message is no longer due. Neither are the later ones of its priority, so the
    -- search goes on with the next priority, and with one message at first: bodies there may be longer.
    if floor(score) > now then
      skips = skips + 1
      if skips > MOST_SKIPS then return end
      return take_ready('(' .. found[i + 1], to, 0, 1)
    end
    local body = call('HGET', MSGS, member)
    if fitting({ body }, 1, most_bytes, first_anyway) == 0 then
      full = true
      return
    end
    ready_taken[#ready_taken + 1] = entry
    add(member, score % 1 == 0 and format('%.0f', score) or format('%.1f', score), body)
    left = left - 1
  end
  if #found == 2 * asked and left > 0 and not full then
    return take_ready(from, to, skipped + asked, 2 * most)
  end
end

local odd = has_odd and call('ZCARD', ODD) > 1
if has_odd and not odd then call('HDEL', META, 'odd') end
if odd then
  apply_step()
  find_odd()
  take_ready('-inf', '(' .. DEFAULT_PRIORITY, 0, 500)
end
take_due()
if odd then take_ready('(' .. DEFAULT_PRIORITY, '(+inf', 0, 500) end

local lease, runs, entry = lease_out(ARGV[6] ~= '' and tonumber(ARGV[6]) or setting('lease'))
if due_taken > 0 then call('ZREMRANGEBYRANK', DUE, 0, due_taken - 1) end
for _, entry in ipairs(ready_taken) do
  call('ZREM', READY, entry)
  call('ZREM', ODD, sub(entry, 9))
end
if expiry then expiry.leave(members, bodies) end
local first = note_head()
local again = #bodies == 0 and look_again(first) or ''
local reply = { now, lease, fence, entry, bodies, pasts_of(members, runs), again }
return finish(gate and gate.told(reply) or reply)
