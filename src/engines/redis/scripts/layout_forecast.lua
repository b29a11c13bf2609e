-- Forecast: how many messages fall due when, in spans of one width, by the scores; a leased message counts at the end
-- of its lease. ARGV: from 7 on as in forecast.lua from 5 on. Answers as forecast.lua.
local width, spans, first = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9])
local moment, left = tonumber(ARGV[10]) or now, tonumber(ARGV[11])
local from = tonumber(ARGV[12]) or moment
local begin = math.max(from, moment)

-- Due times are scores rounded up to a ms.
local function edge(time) return format('%.17g', time / UNIT) end
local function count_of(low, high)
  local n = 0
  for set = 1, M do n = n + call('ZCOUNT', KEYS[set], low, high) end
  return n
end
local function next_due(after)
  local soonest
  for set = 1, M do
    local found = call('ZRANGEBYSCORE', KEYS[set], '(' .. edge(after), '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
    if found and (not soonest or tonumber(found) < soonest) then soonest = tonumber(found) end
  end
  return soonest and soonest * UNIT or math.huge
end

local ready = count_of('-inf', edge(begin))
if LAYOUT == 'redisson' then ready = ready + call('LLEN', DEST) end
local replies = { format('%.0f', now), format('%.0f', moment), ready,
  count_of('(' .. edge(math.max(begin, from + spans * width)), '+inf'), -1 }
while first < spans do
  -- An edge that is no whole score of its unit may round to either side.
  local span = math.max(first, ceil((next_due(math.max(begin, from + first * width)) - from) / width) - 1)
  if span >= spans then break end
  if left == 0 then
    replies[5] = span
    break
  end
  local n = count_of('(' .. edge(math.max(begin, from + span * width)), edge(from + (span + 1) * width))
  if n > 0 then replies[#replies + 1], replies[#replies + 2] = span, n end
  first = span + 1
  left = left - 1
end
return replies
