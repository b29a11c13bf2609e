-- Push. ARGV: 7 the form of Redisson's entries ('old', 'new'); then five for each message: set, member (Redisson:
-- id), if_exists (r reject, k keep, p replace, e earlier, l later), due, body. Answers for each its outcome, its due
-- time and key; 'far' for a time that is too far away.
local reply = {}
local function tell(member, outcome, due)
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = outcome, format('%.0f', due), key_of(member)
end

-- `before`: the due time of the replaced message. If `put` is stopped in between, the old and the new body come
-- late rather than early, and no member is due before it has a body.
local function put(set, member, due, body, before)
  if before then call('DEL', name_of_lease(member)) end
  local is_later = before and due > before
  if is_later then call('ZADD', KEYS[set], score_of(due), member) end
  if LAYOUT == 'hash' then call('HSET', bodies_of(set), member, body) end
  if not is_later then call('ZADD', KEYS[set], score_of(due), member) end
end

local function push_entry(id, due, value)
  local entry = pack_entry(ARGV[7], id, value)
  local score = score_of(due)
  call('ZADD', KEYS[1], score, entry)
  call('RPUSH', LIST, entry)
  tell_head(entry, score)
  tell(entry, 'pushed', due)
end

local function push_one(set, member, rule, due, body)
  local lease = read_lease(name_of_lease(member))
  if lease then return tell(member, 'in_flight', lease[DUE]) end
  local at, score = find(member)
  if not at then
    -- In a HASH, a body without a member is like a dead message. But if it is the same body, an earlier try of
    -- this push may have been stopped after its HSET; then the push goes on.
    local had = LAYOUT == 'hash' and call('HGET', bodies_of(set), member)
    if had and had ~= body and rule ~= 'p' then return tell(member, 'exists', 0) end
    put(set, member, due, body)
    return tell(member, had and rule == 'p' and 'revived' or 'pushed', due_of(score_of(due)))
  end
  local before = due_of(score)
  if rule == 'r' then return tell(member, 'exists', before) end
  if rule == 'p' then
    put(at, member, due, body, before)
    return tell(member, 'replaced', due_of(score_of(due)))
  end
  local moves = (rule == 'e' and due < before) or (rule == 'l' and due > before)
  if not moves then return tell(member, 'kept', before) end
  move_to(at, member, score, score_of(due))
  tell(member, 'moved', due_of(score_of(due)))
end

for at = 8, #ARGV, 5 do
  local due = due_time(ARGV[at + 3])
  if not due then
    tell(ARGV[at + 1], 'far', 0)
  elseif LAYOUT == 'redisson' then
    push_entry(ARGV[at + 1], due, ARGV[at + 4])
  else
    push_one(tonumber(ARGV[at]), ARGV[at + 1], ARGV[at + 2], due, ARGV[at + 4])
  end
end
return reply
