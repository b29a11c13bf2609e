-- The bucket of a queue's rate. META of the queue's first open shard has it: the level, when that was, and the rate. A
-- token has as many parts as the rate's time has ms, and `count` parts come in each ms. So whole numbers keep the
-- bucket exact, as in the embedded engine's token_bucket.h.

-- The count, the ms and the burst of a rate as META has it: 100p1000b20.
local function rate_of(text)
  local count, per, burst = string.match(text, '^(%d+)p(%d+)b(%d+)$')
  if not burst or tonumber(count) == 0 or tonumber(per) == 0 then
    error({ err = 'BROKEN ' .. META .. ' rate ' .. text })
  end
  return tonumber(count), tonumber(per), tonumber(burst)
end

local function full_bucket(rate)
  local _, per, burst = rate_of(rate)
  return burst * per, now
end

-- The level, and when that was. If the bucket had another rate, it keeps its tokens, up to the burst.
local function read_bucket(text, rate)
  local level, filled, old_rate = string.match(text, '^(%d+) (%d+) (%w+)$')
  if not level then error({ err = 'BROKEN ' .. META .. ' bucket ' .. text }) end
  level, filled = tonumber(level), tonumber(filled)
  if old_rate == rate then return level, filled end
  local _, old_per = rate_of(old_rate)
  local _, per, burst = rate_of(rate)
  return math.min(floor(level / old_per), burst) * per, filled
end

local function bucket_text(level, filled, rate) return format('%.0f %.0f %s', level, filled, rate) end
