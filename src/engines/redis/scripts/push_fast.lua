-- Push. This piece pushes all messages at once if no key is taken.
--
-- ARGV: 5 how many, 6 '1' if keys may be taken, '2' if they are to be looked at one by one (one key twice, other
-- priorities), '3' the same, if messages have an expiry, 7 one letter for each message: the rule for a taken key (r, k, p, e, l, or d: the queue's), then
-- member and body of each, then the due time of each, at last the length of the longest body. Answers now, later,
-- then for each message that is not simply pushed: its number, the outcome, and the existing message's id and due
-- time.
local n, rules, first = tonumber(ARGV[5]), ARGV[7], 7

brings_expiry = ARGV[6] == '3' or (queue_expire ~= '' and queue_expire ~= '0')
local taken = ARGV[6] == '2' or brings_expiry
if ARGV[6] == '1' then
  local members = {}
  for i = 1, n do members[i] = ARGV[first + 2 * i - 1] end
  for _, body in ipairs(call('HMGET', MSGS, unpack(members))) do
    if body then
      taken = true
      break
    end
  end
end

local MOST_AHEAD = 36525 * 24 * 3600 * 1000  -- 100 years
-- Each due time is parsed only once, and scores stay texts, because Redis takes long to print a
-- number.
local known, dues, scores, far = {}, {}, {}, false
for i = 1, n do
  local text = ARGV[first + 2 * n + i]
  local due = known[text]
  if due == nil then
    due = tonumber(text)
    if byte(text) == 43 then
      due = due > 0 and later + due or now
    elseif due - now > MOST_AHEAD then
      due = false
    end
    known[text] = due
    far = far or not due
    if due then scores[due] = byte(text) == 43 and format('%.0f', due) or text end
  end
  dues[i] = due
end

if not taken and not far then
  -- This write comes first: if it fails, nothing has been written that must be counted.
  if tonumber(ARGV[8 + 3 * n]) > tonumber(largest or 0) then
    call('HSET', META, 'largest', ARGV[8 + 3 * n])
  end
  call('HSET', MSGS, unpack(ARGV, first + 1, first + 2 * n))
  local entries = {}
  for i = 1, n do
    local due = dues[i]
    entries[2 * i - 1] = scores[due]
    entries[2 * i] = ARGV[first + 2 * i - 1]
    wake(due)
  end
  call('ZADD', DUE, unpack(entries))
  count('accepted', n)
  return finish({ now, later })
end
