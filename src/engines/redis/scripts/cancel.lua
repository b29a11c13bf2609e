-- Cancel. ARGV: from 5 on, the members. Answers for each 'cancelled', 'stopping', 'unknown', or
-- {'settled', how, when}.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time()
local replies = {}

local function cancel_one(member)
  local state, score, body = locate(member)
  if not state then return 'unknown' end
  if state == 'remembered' then return settlement(body) end
  if state == 'leased' then
    if not is_stopping(score) then call('HSET', LEASED, member, score .. '!') end
    return 'stopping'
  end
  local has_past = true
  if state == 'waiting' then
    take_waiting(member, score, priority_of(body))
    has_past = score % 1 ~= 0
  else
    call('ZREM', DEAD, member)
  end
  call('HDEL', MSGS, member)
  if has_past then call('HDEL', PAST, member) end
  count('cancelled')
  return 'cancelled'
end

for i = 5, #ARGV do replies[i - 4] = cancel_one(ARGV[i]) end
return finish(replies)
