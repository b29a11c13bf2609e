-- Ack, the most frequent way to settle: many messages at once.
--
-- ARGV: from 5 on, runs of one claim each: its number, how many members, how many of these (the last ones) have a
-- past, '1' if these are all that the claim took, and the members. Answers 0 if all are done, otherwise 1 or 0 for
-- each member. This piece handles the ack if no claim was extended, nothing is remembered, and no other work is due.
if agenda > now and forgets_at_once() then
  local runs, at, held, before = {}, 5, true, bulk
  while held and at <= #ARGV do
    local fence, n, n_past = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    local whole, first = ARGV[at + 3] == '1', at + 4
    at = first + n
    -- If the bulk claim still has as many messages as it took, it holds all of them; receipts
    -- cannot be forged.
    local rest = whole and without_claim(fence, n)
    if rest then
      bulk = rest
    elseif not whole or call('HGET', CLAIMS, 'n' .. fence) ~= ARGV[first - 3] then
      local leases = call('HMGET', LEASED, unpack(ARGV, first, at - 1))
      for i = 1, n do held = held and leases[i] == fence end
    end
    runs[#runs + 1] = { fence, n, first, at - 1, n_past, rest }
  end
  if held then
    freed = true
    for i = 1, #runs do
      local fence, n, first, last, n_past, in_bulk = unpack(runs[i])
      call('HDEL', MSGS, unpack(ARGV, first, last))
      if n_past > 0 then call('HDEL', PAST, unpack(ARGV, last - n_past + 1, last)) end
      -- The receipt stays valid until these are deleted, so that a stopped call can be repeated.
      if in_bulk then
        call('HSET', META, 'bulk', in_bulk)
        count('acked', n)
        call('HDEL', CLAIMS, fence)
        call('ZREM', LEASES, fence)
      else
        count('acked', call('HDEL', LEASED, unpack(ARGV, first, last)))
        if call('HINCRBY', CLAIMS, 'n' .. fence, -n) == 0 then
          call('HDEL', CLAIMS, fence, 'n' .. fence)
          call('ZREM', LEASES, fence)
        end
      end
    end
    return finish(0)
  end
  bulk = before
end
