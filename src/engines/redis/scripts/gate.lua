-- The limits of a queue, over all its shards: docs/decisions/0024-limits-on-redis.md. A script with this piece gives at
-- most as many leases as the limits permit.
--
-- KEYS: from 14 on, META and LEASED of each of the queue's shards; the open shards come first. ARGV: 10 not empty if
-- the claim may wait. Adds to a claim's answer: '1' if the queue has limits, '1' if they permit no further lease, and
-- the places (from 0) of shards in which leases may have ended without being noticed.
gate = {}
local room, gate_again, behind = math.huge, math.huge, {}

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
      gate_again = math.min(gate_again, its_agenda)
    end
  end
  return leased
end

-- Answers how many messages may be leased.
function gate.open()
  local most = tonumber(queue_leases or '') or 0
  if most > 0 then room = math.max(most - leased_in_all(), 0) end
  return room
end

-- From now on the next lease that ends in any shard is published.
local function wait_for_leases()
  for i = 14, #KEYS, 2 do
    local its_generation, held = unpack(call('HMGET', KEYS[i], 'generation', 'held'))
    if its_generation == generation and not held then call('HSET', KEYS[i], 'held', 1) end
  end
end

function gate.told(reply)
  local is_held = room - #bodies <= 0
  if room == 0 then
    if ARGV[10] ~= '' then wait_for_leases() end
    -- What is due has to wait for room, so the claim looks again when a lease ends.
    reply[7] = gate_again < math.huge and format('%.0f', math.ceil(gate_again)) or ''
  end
  reply[8] = { limited and 1 or 0, is_held and 1 or 0, unpack(is_held and behind or {}) }
  return reply
end
