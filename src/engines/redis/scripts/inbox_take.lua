-- Carries out an inbox's requests to this shard (push, cancel, reschedule), in the order of the entries, and each
-- entry once.
--
-- ARGV: 5 the field of META in which the shard keeps the last entry that it took from this inbox, 6 '1' if the shard
-- is closed: entries for keys that it does not hold are passed on, and answered '>'. Then seven for each entry: its
-- id (both parts in 20 digits, so that texts compare as ids do), a mark of eight bytes (its hash), the verb (p, c,
-- r), member, due time, body (p) or priority (r; empty: as it is), and a letter as in push (p). The call must hold
-- all entries for this shard that were in the batch, which the caller read from the inbox's head on (why:
-- docs/formats/redis.md). Answers for each: nothing if it was carried out, now or before; '>'; 'old' and that last
-- id, if it is not newer and not among the entries that were carried out with that id; or the reason for its refusal.
call('HSET', META, 'generation', ARGV[1])  -- refused here while Redis is full
apply_time()

local FIELD, ORDER_SIZE, MARK_SIZE = ARGV[5], 41, 8
local is_closed, PASSED_ON = ARGV[6] == '1', 'on' .. sub(ARGV[5], 3)
local record = call('HGET', META, FIELD) or ''
local last, known = sub(record, 1, ORDER_SIZE), {}
for at = ORDER_SIZE + 1, #record, MARK_SIZE do known[sub(record, at, at + MARK_SIZE - 1)] = '' end
if is_closed then
  record = call('HGET', META, PASSED_ON) or ''
  for at = 1, #record, MARK_SIZE do known[sub(record, at, at + MARK_SIZE - 1)] = '>' end
end

-- By mark: why entries of the last call were refused. A repeated entry gets the same answer.
local REFUSED = 'refused' .. sub(FIELD, 3)
local packed = call('HGET', META, REFUSED)
local refused = packed and cmsgpack.unpack(packed) or {}

local TOO_LATE = 'the due time is not before the moment at which the message expires'
local longest = tonumber(largest or 0)
local function carry_out(at)
  local verb, member, due, more = ARGV[at + 2], ARGV[at + 3], ARGV[at + 4], ARGV[at + 5]
  if is_closed and not locate(member) then return '>' end
  if verb == 'c' then
    cancel_one(member)
  elseif verb == 'p' then
    if push_onto(1, member, more, tonumber(due), ARGV[at + 6]) == 'late' then return TOO_LATE end
    longest = math.max(longest, #more + 12)  -- with the queue's expiry
  else
    local told = reschedule_one(member, due, more)
    if told == 'far' then return 'due time ' .. due .. ' ms is more than 100 years from now' end
    if told[1] == 'late' then return TOO_LATE end
  end
  return ''
end

-- True if the error comes from Redis and not from the entry's own data: the slot is moving, so the script may not use
-- a key.
local function is_passing(result)
  local text = type(result) == 'table' and result.err or tostring(result)
  return string.find(text, 'non local key', 1, true) or string.find(text, '^%-?TRYAGAIN')
end

local newest, marks, passed, replies, reasons, stopped = last, {}, {}, {}, {}
for at = 7, #ARGV, 7 do
  local id, mark = ARGV[at], ARGV[at + 1]
  local told
  if id <= last then
    told = known[mark] or refused[mark] or 'old ' .. last
    reasons[mark] = refused[mark]
  else
    -- An entry that meets damaged data must not stop the entries after it.
    local ran, result = pcall(carry_out, at)
    if not ran and is_passing(result) then
      stopped = result
      break
    end
    told = ran and result or (type(result) == 'table' and result.err or tostring(result))
    newest = id
    if told ~= '' and told ~= '>' then reasons[mark] = told end
  end
  if told == '' then marks[#marks + 1] = mark end
  if told == '>' then passed[#passed + 1] = mark end
  replies[#replies + 1] = told
end
if newest ~= last then
  call('HSET', META, FIELD, newest .. table.concat(marks))
  if next(reasons) then
    call('HSET', META, REFUSED, cmsgpack.pack(reasons))
  elseif packed then
    call('HDEL', META, REFUSED)
  end
end
if is_closed then call('HSET', META, PASSED_ON, table.concat(passed)) end
if longest > tonumber(largest or 0) then call('HSET', META, 'largest', longest) end
if stopped then error(stopped, 0) end  -- entries that were carried out have their marks
return finish(replies)
