-- List: a page of the messages. They come place by place, and in each place by score and then by member. Leased
-- messages come group by group, in the order in which the leases end.
--
-- ARGV: 5 the state (its first letter, or 'y' ready, empty: all), 6 the place to continue in (0: the first), 7 and 8
-- score and member of the last one listed there (empty: none), 9 how many to look at. Answers now, the place to
-- continue in (-1: none), score and member of the last one looked at, and then for each the result of describe, its
-- place and its score there.
apply_time()
apply_step()
local NOW = format('%.0f.75', now)
local READY_ON, BEFORE_READY = format('%.0f', BIG), '(' .. format('%.0f', BIG)
local BEFORE_EXPIRIES = BEFORE_READY
local places = {
  s = { { DUE, '(' .. NOW, '(+inf' }, { ODD, '(' .. NOW, BEFORE_READY } },
  y = { { DUE, '-inf', NOW }, { ODD, '-inf', NOW }, { ODD, READY_ON, '(+inf' } },
  l = { { LEASES, '-inf', BEFORE_EXPIRIES } },
  d = { { DEAD, '(' .. now, '(+inf' } },
  r = { { DONE, '(' .. now, '(+inf' } },
  -- Leased messages come first. So a lease that runs out meanwhile may show a message twice, but
  -- hides none.
  [''] = { { LEASES, '-inf', BEFORE_EXPIRIES }, { DUE, '-inf', '(+inf' }, { ODD, '-inf', '(+inf' },
    { DEAD, '(' .. now, '(+inf' }, { DONE, '(' .. now, '(+inf' } },
}
local wanted = places[ARGV[5]]
local place, left = tonumber(ARGV[6]), tonumber(ARGV[9])
local score, last = ARGV[7], ARGV[8]
local replies = { now, -1, '', '' }
local ALL = '999999'  -- more than a group can have

local function tell(member)
  local state, at, body = locate(member)
  -- `locate` may have ended a lease that was over. Then the message is listed in its new place.
  if not state or (wanted[place + 1][1] == LEASES and state ~= 'leased') then return end
  local told = describe(member, state, at, body, false)
  told[8], told[9], told[10] = place, score, last
  replies[#replies + 1] = told
end

-- Lists the messages that are still in a group, after number `from`. Here `last` is the group and the
-- member's number in it.
local function tell_group(group, from)
  spread(group)
  local members = members_of(group)
  for i = from + 1, #members do
    if left == 0 then return end
    last = group .. '/' .. i
    left = left - 1
    local lease = call('HGET', LEASED, members[i])
    if lease and group_in(lease) == group then tell(members[i]) end
  end
  last = group .. '/' .. ALL
end

local function outside(bound) return sub(bound, 1, 1) == '(' and sub(bound, 2) or '(' .. bound end

-- Compares members as Redis sorts them, byte by byte. Lua's own < depends on the locale.
local function is_less(a, b)
  for i = 1, math.min(#a, #b) do
    local x, y = byte(a, i), byte(b, i)
    if x ~= y then return x < y end
  end
  return #a < #b
end

-- The first rank after (score, member) if `behind`, otherwise the first rank at or after it. The
-- member need not exist any more.
local function rank_of(key, member, behind)
  local low = call('ZCOUNT', key, '-inf', '(' .. score)
  local high = call('ZCOUNT', key, '-inf', score)
  while low < high do
    local middle = floor((low + high) / 2)
    local there = call('ZRANGE', key, middle, middle)[1]
    if is_less(member, there) or (there == member and not behind) then
      high = middle
    else
      low = middle + 1
    end
  end
  return low
end

while wanted[place + 1] and left > 0 do
  local key, from, to = unpack(wanted[place + 1])
  local first = from == '-inf' and 0 or call('ZCOUNT', key, '-inf', outside(from))
  local behind = call('ZCOUNT', key, '-inf', to)
  local begun, told  -- a group that was listed in part comes again
  if key == LEASES then begun, told = string.match(last, '^(.*)/(%d+)$') end
  if last ~= '' then
    first = math.max(first, rank_of(key, begun or last, not begun or told == ALL))
  end
  local found = {}
  if first < behind then
    found = call('ZRANGE', key, first, math.min(behind, first + left) - 1, 'WITHSCORES')
  end
  for i = 1, #found, 2 do
    if key == LEASES then
      if left == 0 then break end
      score, last = found[i + 1], found[i] .. '/0'
      tell_group(found[i], found[i] == begun and tonumber(told) or 0)
    else
      score, last = found[i + 1], found[i]
      tell(last)
      left = left - 1
    end
  end
  if left > 0 and first + #found / 2 >= behind then place, score, last = place + 1, '', '' end
end
if wanted[place + 1] then replies[2], replies[3], replies[4] = place, score, last end
return finish(replies)
