-- Every end of a claim, one after the other.
--
-- ARGV: from 5 on, six for each message: the claim's number, member, action (a ack, t retry, r release, b bury, d
-- bury as damaged, m moved away), delay in ms (retry; empty: the backoff), priority (empty: unchanged), reason
-- (bury; retry: kept if it was the last attempt). Answers for each: 0 stale, 1 done, or after a retry the due time.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time()
local replies = {}

-- The backoff doubles with each attempt, from backoff_min up to backoff_max, as in core/settings/retry_policy.h. The real wait
-- lies in its upper half; the message's id and attempt decide where.
local function backoff(id, attempt)
  local least, most = setting('backoff_min'), setting('backoff_max')
  local full = least
  for _ = 2, attempt do
    if full >= most then break end
    full = full * 2
  end
  full = math.min(full, most)
  local low, mid, high = byte(id, 6), byte(id, 5), byte(id, 4)
  local seed = (low + mid * 256 + high * 65536) * 2654435 + attempt * 40503
  return full - floor((floor(full / 2) + 1) * (seed % 65521) / 65521)
end

local function settle_one(fence, member, action, delay, priority, reason)
  spread(fence)
  local lease = call('HGET', LEASED, member)
  if not is_held(lease, fence) then return action == 'a' and was_acked_by(member, fence) and 1 or 0 end
  local score = leased_score(member, lease)
  local stopping = is_stopping(lease)
  local body = call('HGET', MSGS, member)
  local has_past = score % 1 ~= 0
  local due
  if action == 't' and not stopping and delay ~= '' then
    due = due_time('+' .. delay)
  end
  -- Ends the lease; this comes last. A message that continues has its next place already; of a message that ends,
  -- everything else is deleted already. Until then the receipt is valid, so a stopped caller can repeat the call.
  local function leave(counter)
    call('HDEL', LEASED, member)
    if counter then count(counter) end
    leave_group(group_in(lease), 1)
  end
  if action == 'm' then
    call('HDEL', MSGS, member)
    if has_past then call('HDEL', PAST, member) end
    leave('moved_away')
    return 1
  end
  if action == 'a' or stopping then
    if action == 'a' then
      conclude(member, score, ACKED, fence)
      leave('acked')
    else
      conclude(member, score, CANCELLED)
      leave('cancelled')
    end
    return 1
  end
  if not body then  -- another program has deleted it: the message cannot continue
    leave()
    call('HDEL', PAST, member)
    return 0
  end
  local past = past_of(member, has_past)
  local attempt = attempt_of(past)
  past[1], past[2] = attempt, past[2] + 1
  if priority ~= '' then
    body = with_priority(body, tonumber(priority))
    call('HSET', MSGS, member, body)
  end
  if action == 'b' or action == 'd' then
    if action == 'b' then past[5] = past[5] + 1 end
    die(member, floor(score), past, reason)
    leave(action == 'b' and 'buries' or 'damaged')
    return 1
  end
  if action == 'r' then
    past[1], past[4] = attempt - 1, past[4] + 1
  else
    local most = max_attempts_of(body)
    if attempt >= most then
      if reason == '' then reason = 'retried after attempt ' .. attempt .. ' of ' .. most end
      die(member, floor(score), past, reason)
      leave()
      return 1
    end
    due = due or due_time('+' .. format('%.0f', backoff(id_of(member, body), attempt)))
    score = due
  end
  call('HSET', PAST, member, pack_past(past))
  put_waiting(member, floor(score) + 0.5, body)
  leave(action == 'r' and 'releases' or 'retries')
  return due and format('%.0f', due) or 1
end

for at = 5, #ARGV, 6 do
  replies[#replies + 1] = settle_one(ARGV[at], ARGV[at + 1], ARGV[at + 2], ARGV[at + 3], ARGV[at + 4],
    ARGV[at + 5])
end
return finish(replies)
