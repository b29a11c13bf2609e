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

-- The level now of a bucket that had that level at `filled`. Time that went back brings nothing.
local function level_now(level, filled, rate)
  local count, per, burst = rate_of(rate)
  local elapsed = now - filled
  if elapsed <= 0 then return level end
  return elapsed > floor((burst * per - level) / count) and burst * per or level + elapsed * count
end

-- The level, and when that was. If the bucket had another rate, it keeps the tokens that it has by now, up to the burst.
local function read_bucket(text, rate)
  local level, filled, old_rate = string.match(text, '^(%d+) (%d+) (%w+)$')
  if not level then error({ err = 'BROKEN ' .. META .. ' bucket ' .. text }) end
  level, filled = tonumber(level), tonumber(filled)
  if old_rate == rate then return level, filled end
  local _, old_per = rate_of(old_rate)
  local _, per, burst = rate_of(rate)
  return math.min(floor(level_now(level, filled, old_rate) / old_per), burst) * per, now
end

local function bucket_text(level, filled, rate) return format('%.0f %.0f %s', level, filled, rate) end
