-- Forecast: how many messages fall due when, in spans of one width. A span holds the messages due after its
-- beginning, its end included. Spans without a message cost nothing.
--
-- ARGV: 5 the width, 6 how many spans, 7 the first span to look at, 8 the moment that is shown (empty: now), 9 how many
-- spans with messages to answer at most, 10 when the first span begins (empty: at that moment). Answers now, the moment,
-- how many are due by then or before the first span, how many fall due after the last span, the span to continue with
-- (-1: none), and then span, count, span, count …
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time(1000)
apply_step()
local width, spans, first = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local moment, left = tonumber(ARGV[8]) or now, tonumber(ARGV[9])
local from = tonumber(ARGV[10]) or moment
local begin = math.max(from, moment)
local LAST = '(' .. format('%.0f', BIG)  -- the members of ODD after it are in READY too

-- A score is the due time, or half a millisecond more. Scores above BIG come after every due time.
local function edge(time) return time >= BIG and LAST or format('(%.2f', time + 0.75) end
local function behind(time) return format('%.2f', time + 0.75) end
local function count_of(low, high)
  return call('ZCOUNT', DUE, low, high) + call('ZCOUNT', ODD, low, high)
end
local function next_due(low)
  local soonest = math.huge
  for _, key in ipairs({ DUE, ODD }) do
    local found = call('ZRANGEBYSCORE', key, low, LAST, 'WITHSCORES', 'LIMIT', 0, 1)
    if found[1] then soonest = math.min(soonest, floor(tonumber(found[2]))) end
  end
  return soonest
end

local ready = count_of('-inf', edge(begin)) + call('ZCARD', READY) - 1
local finish_of = math.max(begin, from + spans * width)
local later = finish_of < BIG and count_of(behind(finish_of), LAST) or 0
local replies = { format('%.0f', now), format('%.0f', moment), ready, later, -1 }
while first < spans do
  local due = next_due(behind(math.max(begin, from + first * width)))
  local span = math.ceil((due - from) / width) - 1
  if span >= spans then break end
  if left == 0 then
    replies[5] = span
    break
  end
  replies[#replies + 1] = span
  replies[#replies + 1] = count_of(behind(math.max(begin, from + span * width)), edge(from + (span + 1) * width))
  first = span + 1
  left = left - 1
end
return finish(replies)
