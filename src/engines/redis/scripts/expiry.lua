-- Messages that expire. These functions are made only if the shard has such messages or may get some: making functions
-- takes Redis longer than many calls do.
--
-- A waiting message that expires has an entry in LEASES: 'x' and its member, with the moment and BIG as score. So these
-- entries come after those of all leases. An entry whose message is not waiting any more means nothing.
if expiring or brings_expiry then
  -- `is_behind`: there may be messages that expired before this call and were not ended. A message that the call itself
  -- makes, already expired, waits until the next call.
  expiry = { is_behind = false }

  -- Where a body has its expiry, or would have it.
  local function place_in(flags)
    local at = 6
    if band(flags, HAS_ID) ~= 0 then at = at + 6 end
    if band(flags, HAS_PRIORITY) ~= 0 then at = at + 4 end
    if band(flags, HAS_MAX) ~= 0 then at = at + 2 end
    return at
  end

  -- When the message expires, and how long after its due time that is (0: at a fixed time). Nil: never.
  local function expiry_of(body)
    local flags = flags_of(body)
    if band(flags, HAS_EXPIRY) == 0 then return nil end
    return struct.unpack('<I6I6', body, place_in(flags))
  end

  -- The same body with another expiry; without one if there is no `moment`.
  local function with_expiry(body, moment, after)
    local flags = flags_of(body)
    local at = place_in(flags)
    local rest = band(flags, HAS_EXPIRY) ~= 0 and at + 12 or at
    local field = moment and struct.pack('<I6I6', moment, after) or ''
    flags = band(flags, 255 - HAS_EXPIRY) + (moment and HAS_EXPIRY or 0)
    return string.char(flags) .. sub(body, 2, at - 1) .. field .. sub(body, rest)
  end

  -- Call `note` before a body with an expiry is written. Without META's `expiring`, no script looks for one.
  function expiry.note(body)
    if expiring or not expiry_of(body) then return end
    call('HSET', META, 'expiring', 1)
    expiring = '1'
  end

  -- A new message's body with its expiry; nil if it would expire before it is due. A relative expiry comes without its
  -- moment. A message from another store keeps what it had.
  function expiry.of_push(body, due, is_move)
    local moment, after = expiry_of(body)
    if moment and moment ~= 0 then
      if not is_move and after == 0 and due >= moment then return nil end
    elseif moment then
      body = with_expiry(body, due + after, after)
    elseif not is_move and queue_expire ~= '' and queue_expire ~= '0' then
      body = with_expiry(body, due + queue_expire, tonumber(queue_expire))
    end
    expiry.note(body)
    return body
  end

  -- The body after the message got another due time, by a reschedule or a revive, as in core/rules/expiry.h.
  function expiry.moved(body, due)
    local moment, after = expiry_of(body)
    if not moment or (after == 0 and due < moment) then return body end
    if after == 0 then return with_expiry(body) end
    return with_expiry(body, due + after, after)
  end

  -- The fixed moment at which the message expires, if it is not after this due time.
  function expiry.before(body, due)
    local moment, after = expiry_of(body)
    return moment and after == 0 and due >= moment and moment
  end

  -- The message is about to wait. The entry is written first, because only with an entry the message expires.
  function expiry.await(member, body)
    local moment = expiry_of(body)
    if not moment then return end
    expiry.note(body)
    call('ZADD', LEASES, format('%.0f', BIG + moment), 'x' .. member)
    expect(moment)
  end

  -- These messages have left their places.
  function expiry.leave(members, bodies)
    local entries = {}
    for i = 1, #members do
      if not bodies or bodies[i] and expiry_of(bodies[i]) then entries[#entries + 1] = 'x' .. members[i] end
    end
    if #entries > 0 then call('ZREM', LEASES, unpack(entries)) end
  end

  function expiry.has_come(body)
    local moment = expiry_of(body)
    return moment and moment <= now
  end

  -- The waiting message has expired. `score` as in its place.
  function expiry.conclude(member, score, body)
    local due, has_past = floor(plain(score)), plain(score) % 1 ~= 0
    local past = past_of(member, has_past)
    if setting('on_expiry') ~= 0 then
      die(member, due, past, 'expired')
      take_waiting(member, score, priority_of(body))
    else
      take_waiting(member, score, priority_of(body))
      count('expired')
      if setting('remember') > 0 then
        remember_end(member, body, due, past, EXPIRED)
      else
        call('HDEL', MSGS, member)
      end
      if has_past then call('HDEL', PAST, member) end
    end
    expiry.leave({ member })
  end

  -- Ends up to `most` messages that have expired; answers how many entries it saw.
  function expiry.apply(most)
    local entries = call('ZRANGEBYSCORE', LEASES, BIG, format('%.0f', BIG + now), 'LIMIT', 0, most)
    for _, entry in ipairs(entries) do
      local member = sub(entry, 2)
      local body = call('HGET', MSGS, member)
      local moment = body and expiry_of(body)
      local score = moment and call('ZSCORE', priority_of(body) == DEFAULT_PRIORITY and DUE or ODD, member)
      if score and moment <= now then
        expiry.conclude(member, tonumber(score), body)
      elseif score then  -- a stopped script has left another moment in the entry
        expiry.await(member, body)
      else
        expiry.leave({ member })
      end
    end
    expiry.is_behind = #entries == most
    return #entries
  end

  -- The first moment of all entries. META's `expiring` goes with the shard's last message.
  function expiry.first()
    local entry = call('ZRANGEBYSCORE', LEASES, BIG, '(+inf', 'WITHSCORES', 'LIMIT', 0, 1)
    if entry[1] then return tonumber(entry[2]) - BIG end
    if expiring and call('HLEN', MSGS) == 1 then
      call('HDEL', META, 'expiring')
      expiring = false
    end
    return math.huge
  end
end
