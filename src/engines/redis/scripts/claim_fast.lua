-- Claims due messages, by priority and then by due time. This piece handles the claim if all messages have the
-- default priority, no other work is due, and all wanted messages fit into the bytes.
--
-- ARGV: 5 messages at most, 6 lease in ms (empty: the queue's), 7 payload bytes at most, 8 '1' if one message is
-- handed out whatever its size, 9 '1' if all programs know bulk claims. Answers now, the lease, the claim's number,
-- its entry in CLAIMS (members and the runs of their scores, MessagePack: a text is answered faster than its parts),
-- bodies, tallies of messages with a past (places, tallies) or nil, and when to look again (ms, or empty).

-- The due members of DUE, `asked` at most, and the runs of their scores. If many share a ms, the script counts each
-- ms instead of reading each score.
local function front(asked)
  local until_now = format('%.0f.75', now)
  local first, last = 0, now
  if asked >= 8 then
    first = floor(tonumber(call('ZRANGE', DUE, 0, 0, 'WITHSCORES')[2]))
    local behind = call('ZRANGE', DUE, asked - 1, asked - 1, 'WITHSCORES')[2]
    if behind then last = math.min(now, floor(tonumber(behind))) end
  end
  if (last - first + 1) * 8 <= asked then
    local members = call('ZRANGEBYSCORE', DUE, '-inf', until_now, 'LIMIT', 0, asked)
    local runs, left = {}, #members
    local pasts = call('HLEN', PAST) > 1
    local function count_at(score)
      local n = math.min(left, call('ZCOUNT', DUE, score, score))
      if n > 0 then
        runs[#runs + 1], runs[#runs + 2] = score, n
        left = left - n
      end
    end
    for due = first, last do
      count_at(format('%.0f', due))
      if pasts then count_at(format('%.0f.5', due)) end
    end
    if left == 0 then return members, runs end
  end
  local found = call('ZRANGEBYSCORE', DUE, '-inf', until_now, 'WITHSCORES', 'LIMIT', 0, asked)
  local members, scores = {}, {}
  for i = 1, #found / 2 do members[i], scores[i] = found[2 * i - 1], found[2 * i] end
  return members, runs_of(scores)
end

if limited and not gate then
  return redis.error_reply('LIMITED ' .. ARGV[3] .. ' needs the keys of all shards')
end
while not paused and not has_odd and agenda > now do  -- once
  local asked = math.min(tonumber(ARGV[5]), 500)
  if gate then asked = math.min(asked, gate.open()) end
  if asked == 0 then return finish(gate.told({ now, 0, '', '', {}, false, '' })) end
  local lease = ARGV[6] ~= '' and tonumber(ARGV[6]) or tonumber(queue_lease)
  if asked * tonumber(largest or 0) <= tonumber(ARGV[7]) then
    local members, runs = front(asked)
    local n = #members
    if n > 0 then
      local bodies = call('HMGET', MSGS, unpack(members))
      local claims = redis.pcall('HINCRBY', META, 'claims', n)
      if type(claims) == 'table' then break end  -- Redis is full: the rest of the script frees first
      if gate then gate.pay(n) end
      local fence = format('%.0f-%.0f', now, claims)
      local entry = cmsgpack.pack(members, runs)
      -- The first write makes sure that the claim ends. The last ones take the messages out of their places. So a
      -- failure in between loses nothing.
      call('ZADD', LEASES, now + lease, fence)
      expect(now + lease)
      note_deadline()
      -- No bulk claim is made if endings are remembered: then an ack has to look at each message
      -- anyway.
      if ARGV[9] == '1' and n >= BULK_LEAST and bulk_total() + n <= BULK_MOST and forgets_at_once() then
        call('HSET', CLAIMS, fence, entry)
        call('HSET', META, 'bulk', with_claim(fence, n))
      else
        local leases = {}
        for i = 1, n do leases[2 * i - 1], leases[2 * i] = members[i], fence end
        call('HSET', CLAIMS, fence, entry, 'n' .. fence, n)
        call('HSET', LEASED, unpack(leases))
      end
      call('ZREMRANGEBYRANK', DUE, 0, n - 1)
      if expiring then
        local entries = {}
        for i = 1, n do
          local has_expiry = floor((byte(bodies[i] or '') or 0) / 32) % 2 == 1
          if has_expiry then entries[#entries + 1] = 'x' .. members[i] end
        end
        if #entries > 0 then call('ZREM', LEASES, unpack(entries)) end
      end
      local pasts = pasts_of(members, runs)
      if n < asked then
        local first = call('ZRANGE', DUE, 0, 0, 'WITHSCORES')[2]
        if tonumber(first) ~= head then
          call('HSET', META, 'head', first)
          call('ZADD', HEADS, first, ARGV[3])
        end
      end
      local reply = { now, lease, fence, entry, bodies, pasts, '' }
      return finish(gate and gate.told(reply) or reply)
    end
  end
  break
end
