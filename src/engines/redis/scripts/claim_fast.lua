-- Claim of what is due, by priority and then by due time; here, as long as all are of default
-- priority, time has nothing else to do, and what is asked for goes into the bytes.
--
-- ARGV: 5 messages at most, 6 lease in ms (empty: the queue's), 7 payload bytes at most, 8 '1' where
-- one message is handed out whatever its size.
-- Answers now, the lease, the claim's number, members and scores, bodies, tallies of those that have
-- a past (places, tallies) or nil, and when to look again (ms, or empty).
if not paused and not has_odd and agenda > now then
  local asked = math.min(tonumber(ARGV[5]), 500)
  local lease = ARGV[6] ~= '' and tonumber(ARGV[6]) or tonumber(string.match(settings, '%d+'))
  if asked * tonumber(largest or 0) <= tonumber(ARGV[7]) then
    -- Due times are whole, and a past makes half a ms more.
    local found = call('ZRANGEBYSCORE', DUE, '-inf', format('%.0f.75', now), 'WITHSCORES', 'LIMIT', 0,
      asked)
    local n = #found / 2
    local members, leases, aged = {}, {}, {}
    for i = 1, n do
      local member, score = found[2 * i - 1], found[2 * i]
      members[i], leases[2 * i - 1] = member, member
      if byte(score, #score - 1) == 46 then aged[#aged + 1] = i end
    end
    if n > 0 then
      local bodies = call('HMGET', MSGS, unpack(members))
      call('ZREMRANGEBYRANK', DUE, 0, n - 1)
      local fence = format('%.0f-%.0f', now, call('HINCRBY', META, 'claims', n))
      for i = 1, n do leases[2 * i] = fence end
      call('HSET', LEASED, unpack(leases))
      call('HSET', CLAIMS, fence, cmsgpack.pack(found), 'n' .. fence, n)
      call('ZADD', LEASES, now + lease, fence)
      expect(now + lease)
      local pasts = false
      if #aged > 0 then
        local old = {}
        for i = 1, #aged do old[i] = members[aged[i]] end
        pasts = { aged, call('HMGET', PAST, unpack(old)) }
      end
      if n < asked then
        local first = call('ZRANGE', DUE, 0, 0, 'WITHSCORES')[2]
        if tonumber(first) ~= head then
          call('HSET', META, 'head', first)
          call('ZADD', HEADS, first, ARGV[3])
        end
      end
      return finish({ now, lease, fence, found, bodies, pasts, '' })
    end
  end
end
