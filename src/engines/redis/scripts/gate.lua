-- The limits of a queue, over all its shards: docs/decisions/0024-limits-on-redis.md. A script with this piece gives at
-- most as many leases as the limits permit.
--
-- KEYS: from 14 on, META and LEASED of each of the queue's shards; the open shards come first. ARGV: 10 not empty if
-- the claim may wait. Adds to a claim's answer: '1' if the queue has limits, '1' if they permit no further lease, and
-- the places (from 0) of shards in which leases may have ended without being noticed.
gate = {}
local HOME = KEYS[14]  -- has the bucket
local room, tokens, level, filled = math.huge, math.huge, nil, nil
local next_token, next_end, behind = math.huge, math.huge, {}
local is_open = false

-- How many messages of all shards are leased. A lease of another shard counts until a script there ends it.
local function leased_in_all()
  local leased = 0
  for i = 14, #KEYS, 2 do
    local its_bulk, its_agenda = unpack(call('HMGET', KEYS[i], 'bulk', 'agenda'))
    local in_bulk = string.match(its_bulk or '0', '^%d+')
    if not in_bulk then error({ err = 'BROKEN ' .. KEYS[i] .. ' bulk ' .. its_bulk }) end
    leased = leased + in_bulk + math.max(call('HLEN', KEYS[i + 1]) - 1, 0)
    its_agenda = tonumber(its_agenda or math.huge) or 0
    if its_agenda <= now then
      behind[#behind + 1] = (i - 14) / 2
    else
      next_end = math.min(next_end, its_agenda)
    end
  end
  return leased
end

-- During a reshard the bucket is still in a closed shard, until the first claim or the reshard's end.
local function find_bucket()
  for i = 14, #KEYS, 2 do
    local text = call('HGET', KEYS[i], 'bucket')
    if text then return read_bucket(text, queue_rate) end
  end
  return full_bucket(queue_rate)
end

-- Fills the bucket. If the clock was set back, that is noted, so that the tokens come from this time on.
local function fill()
  local count, per = rate_of(queue_rate)
  level, filled = find_bucket()
  level = level_now(level, filled, queue_rate)
  if now < filled then
    call('HDEL', META, '')  -- a first write that is allowed while Redis is full
    call('HSET', HOME, 'bucket', bucket_text(level, now, queue_rate))
  end
  filled = now
  tokens = floor(level / per)
  if tokens == 0 then next_token = now + math.ceil((per - level) / count) end
end

-- Answers how many messages may be leased. Call it when leases that ended in this shard have been ended.
function gate.open()
  if is_open then return math.min(room, tokens) end
  is_open = true
  local most = tonumber(queue_leases or '') or 0
  if most > 0 then room = math.max(most - leased_in_all(), 0) end
  if has_rate then fill() end
  return math.min(room, tokens)
end

-- Takes the tokens of n messages. This comes before their leases: if the script is stopped, tokens are lost.
function gate.pay(n)
  if not has_rate then return end
  local _, per = rate_of(queue_rate)
  call('HSET', HOME, 'bucket', bucket_text(level - n * per, filled, queue_rate))
end

-- From now on the next lease that ends in any shard is published.
local function wait_for_leases()
  call('HDEL', META, '')  -- a first write that is allowed while Redis is full
  for i = 14, #KEYS, 2 do
    local its_generation, held = unpack(call('HMGET', KEYS[i], 'generation', 'held'))
    if its_generation == generation and not held then call('HSET', KEYS[i], 'held', 1) end
  end
end

function gate.told(reply)
  local n = #reply[5]
  if room == 0 and ARGV[10] ~= '' then wait_for_leases() end
  if room == 0 or tokens == 0 then
    -- What is due has to wait, so the claim looks again when a lease ends, or a token comes.
    local again = math.min(room == 0 and next_end or math.huge, next_token)
    reply[7] = again < math.huge and format('%.0f', math.ceil(again)) or ''
  end
  local is_held = room <= n or tokens <= n
  reply[8] = { limited and 1 or 0, is_held and 1 or 0, unpack(room <= n and behind or {}) }
  return reply
end
