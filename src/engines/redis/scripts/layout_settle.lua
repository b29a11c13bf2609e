-- Settle. ARGV: 7 how many times longer than the first the longest backoff is; then four for each message: lease,
-- nonce, a (ack), r (retry), b (retry after the backoff) or l (release), delay (b: the first backoff). Answers for
-- each 1 (done), 0 (stale), or the new due time.
free_first()
local replies = {}

local function settle_one(name, nonce, action, delay)
  local lease = read_lease(name)
  if not lease or lease[NONCE] ~= nonce then return 0 end
  -- The lease is deleted last, so that a stopped call can be repeated until nothing of the message
  -- can fall due again.
  local function done(told)
    call('DEL', name)
    return told
  end
  if lease[STOPPING] then
    finish_stopping(lease)
    return done(1)
  end
  if action == 'a' then
    if LAYOUT == 'hash' then
      -- If the ack is stopped after its ZREM and repeated, this mark tells that the body must still
      -- be removed.
      lease[STOPPING] = 'a'
      write_lease(name, lease)
    end
    remove_leased(lease)
    return done(1)
  end
  local set, member, attempt = lease[SET], lease[MEMBER], lease[ATTEMPT] or 1
  local score = lease[WAS]
  if action ~= 'l' then
    local longer = action == 'b' and math.min(2 ^ (attempt - 1), tonumber(ARGV[7])) or 1
    score = score_of(later + floor(tonumber(delay) * longer))
  end
  call('ZADD', KEYS[set], score, member)
  tell_head(member, score)
  end_lease(name, lease, action == 'l' and attempt - 1 or attempt, score)
  return action == 'l' and 1 or format('%.0f', due_of(score))
end

for at = 8, #ARGV, 4 do
  replies[#replies + 1] = settle_one(LEASES .. ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3])
end
return replies
