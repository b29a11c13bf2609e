-- Hands out messages, for layout_claim.lua and layout_claim_keys.lua. ARGV: 7 how many, 8 lease in ms, 9 bytes, 10
-- '1' if the first is handed out whatever its size, 11 the claim's nonce.
--
-- The answer: now, when to look again (empty: nothing is there), how long the leases are, how many members were found
-- that are no messages, the first one's key (-1 and the name of a HASH that does not exist while members of its set
-- are due), a score that is in the other unit (empty: there is none), the form of Redisson's entries ('old', 'new';
-- empty: not known), and five for each message: lease, key, due, body, which attempt it is.
local left, room, first_goes, nonce = tonumber(ARGV[7]), tonumber(ARGV[9]), ARGV[10] == '1', ARGV[11]
local lease_score, lease_ends = lease_until(later + tonumber(ARGV[8]), nonce)
local reply = { format('%.0f', now), '', format('%.0f', lease_ends - later), 0, '', '', '' }
local full = false
-- If a member has no body, its producer may be between ZADD and HSET. So the member is put off for
-- this long.
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
  local name = LEASES .. digest
  local attempt = attempts_of(name, was) + 1
  call('ZADD', KEYS[set], lease_score, member)
  write_lease(name,
    { nonce, lease_ends, lease_score, due, was, set, member, false, from_tail,
      LAYOUT == 'hash' and redis.sha1hex(body) or false, false, attempt })
  local at = #reply
  reply[at + 1], reply[at + 2], reply[at + 3] = digest, key_of(member), format('%.0f', due)
  reply[at + 4], reply[at + 5] = body, attempt
end

-- If the HASH has no body at all, hash= may name the wrong key. Then nothing is changed.
local no_bodies
local function lacks_bodies(set)
  if LAYOUT ~= 'hash' or call('HLEN', bodies_of(set)) > 0 then return false end
  no_bodies = bodies_of(set)
  return true
end

-- Takes one member of a set. The member is due, or was named by its key.
local put_off = 0
local function take(set, member, score)
  if M > 1 then
    -- If the member is in two sets and leased from the other one, it waits: only one lease at a
    -- time.
    local lease = read_lease(name_of_lease(member))
    if lease and lease[SET] ~= set and not lease[STOPPING] then
      put_off = put_off + 1
      call('ZADD', KEYS[set], lease[SCORE], member)
      return
    end
  end
  if LAYOUT == 'plain' then return hand_out(set, member, score, due_of(score), member, false) end
  if LAYOUT == 'redisson' then
    local id, value, old = unpack_entry(member)
    if id then
      reply[7] = old and 'old' or 'new'
      return hand_out(set, member, score, due_of(score), value, false)
    end
    set_aside(set, member, score)
    return report(member)
  end
  local body = call('HGET', bodies_of(set), member)
  if body then return hand_out(set, member, score, due_of(score), body, false) end
  if lacks_bodies(set) then return end
  call('ZADD', KEYS[set], score_of(later + LOOK_AGAIN_MS), member)
  report(member)
end

local function finish(soonest)
  -- A Java timer that found an empty ZSET sleeps until somebody publishes. So the lease's end is published too:
  -- then the timer moves the message if the claiming process dies.
  if LAYOUT == 'redisson' and #reply > 7 then
    local head = call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
    if tonumber(head[2]) == tonumber(lease_score) then tell_head(head[1], head[2]) end
  end
  if no_bodies then
    reply[4], reply[5] = -1, no_bodies
    soonest = math.max(soonest or 0, now + 1000)
  end
  if full then
    reply[2] = reply[1]
  elseif soonest then
    reply[2] = format('%.0f', soonest)
  end
  return reply
end
