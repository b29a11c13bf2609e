-- Handing out, for both claims. ARGV: 7 how many, 8 lease in ms, 9 bytes, 10 '1' if the first goes
-- out whatever its size, 11 the claim's nonce.
--
-- The answer: now, when to look again (empty: nothing is there), how long the leases are, how
-- many members were found that are no messages, the first one's key, and four a message: lease, key,
-- due, body.
local left, room, first_goes, nonce = tonumber(ARGV[7]), tonumber(ARGV[9]), ARGV[10] == '1', ARGV[11]
local lease_score = score_of(later + tonumber(ARGV[8]))
local lease_ends = tonumber(lease_score) * UNIT
local reply = { format('%.0f', now), '', format('%.0f', lease_ends - later), 0, '' }
local full = false
-- A member without a body may be one whose body is on its way: ZADD went before HSET.
local LOOK_AGAIN_MS = 10000

local function report(member)
  if reply[4] == 0 then reply[5] = key_of(member) end
  reply[4] = reply[4] + 1
end

local function hand_out(set, member, was, due, body, from_tail)
  if #body > room and not first_goes then
    full = true
    return
  end
  first_goes = false
  room = room - #body
  left = left - 1
  local digest = redis.sha1hex(member)
  call('ZADD', KEYS[set], lease_score, member)
  write_lease(LEASES .. digest,
    { nonce, lease_ends, lease_score, due, was, set, member, false, from_tail })
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = digest, key_of(member), format('%.0f', due)
  reply[at + 4] = body
end

-- One member of a set, due or asked for by key.
local function take(set, member, score)
  if LAYOUT == 'plain' then return hand_out(set, member, score, due_of(score), member, false) end
  if LAYOUT == 'redisson' then
    local id, value = unpack_entry(member)
    if id then return hand_out(set, member, score, due_of(score), value, false) end
    set_aside(set, member, score)
    return report(member)
  end
  local body = call('HGET', bodies_of(set), member)
  if body then return hand_out(set, member, score, due_of(score), body, false) end
  call('ZADD', KEYS[set], score_of(later + LOOK_AGAIN_MS), member)
  report(member)
end

local function finish()
  if full then
    reply[2] = reply[1]
    return reply
  end
  local soonest
  for set = 1, M do
    local head = call('ZRANGE', KEYS[set], 0, 0, 'WITHSCORES')[2]
    if head and (not soonest or due_of(head) < soonest) then soonest = due_of(head) end
  end
  if soonest then reply[2] = format('%.0f', soonest) end
  return reply
end
