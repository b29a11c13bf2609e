-- The beginning of every script on a queue's shard: its keys, the time, META's fields. docs/formats/redis.md
-- describes keys, fields and members.
--
-- A script's common case stands directly after this, before the functions that the other cases need: creating those
-- takes Redis longer than many calls do.
--
-- ARGV: 1 the generation of the queue's shards that the caller knows, 2 the time in ms (tests only; empty: the
-- server's), 3 the shard's name in heads and agenda, 4 the channel for wake-ups; the script's own arguments follow.
local META, MSGS, DUE, ODD, READY, LEASED, CLAIMS, LEASES, PAST, DEAD, DONE, HEADS, AGENDA =
  unpack(KEYS)

if may and not (may('HSET', META, '', '') and may('HDEL', META, '') and may('HINCRBY', META, '', 0)
  and may('ZADD', META, 0, '') and may('ZREM', META, '') and may('ZREMRANGEBYRANK', META, 0, 0)) then
  return redis.error_reply('NOPERM this user may not write all that scripts write to ' .. META)
end

local generation, settings, paused, watched, agenda, head, has_odd, largest, bulk, expiring = unpack(call('HMGET',
  META, 'generation', 'settings', 'paused', 'watched', 'agenda', 'head', 'odd', 'largest', 'bulk', 'expiring'))
bulk = bulk or '0'
if not generation then return redis.error_reply('GONE the queue is not there') end
if generation ~= ARGV[1] then return redis.error_reply('STALE the queue has other shards now') end
-- The settings that the common cases need, in the order of settings.lua. The later ones are empty in an old store.
local queue_lease, queue_remember, queue_expire, queue_leases, queue_rate =
  string.match(settings or '', '^(%d+) %d+ %d+ %d+ (%d+) %d+ %a ?%d* ?(%d*) ?%d* ?(%d*) ?(%w*)[ %w]*$')
-- True if the queue has a limit. Then only scripts with gate.lua claim.
local has_rate = queue_rate and queue_rate ~= '' and queue_rate ~= '0'
local limited = has_rate or queue_leases and queue_leases ~= '' and queue_leases ~= '0'
-- If another program has written invalid values into META, that is reported before anything is
-- done.
if not queue_lease or not tonumber(largest or 0)
  or not tonumber(watched or 0) or (paused or '') ~= '' and not tonumber(paused)
  or not string.find(bulk, '^%d+') then
  return redis.error_reply('BROKEN ' .. META .. ' settings ' .. tostring(settings) .. ', paused '
    .. tostring(paused) .. ', watched ' .. tostring(watched) .. ', largest ' .. tostring(largest)
    .. ', bulk ' .. bulk)
end
paused = paused and (paused == '' or tonumber(paused) > now) and paused

-- `expiry`: the functions of expiry.lua, if there may be messages that expire. `brings_expiry`: the script may write the
-- first one.
local expiry, brings_expiry

local gate  -- gate.lua, in scripts for queues with limits

-- No lease ends, and nothing expires, before `agenda`; nothing waits to be claimed before `head`.
agenda = agenda and tonumber(agenda) or math.huge
head = head and tonumber(head) or math.huge

-- Counters and sooner due times are collected, and written by `finish`, which ends every script. A change is counted
-- directly after its write, because a script may be stopped at any call.
local counts, soonest, deadline = {}, math.huge, math.huge
local function count(name, n) counts[name] = (counts[name] or 0) + (n or 1) end
-- Call `wake` with a time from which on a message can be claimed.
local function wake(due) if due < soonest then soonest = due end end
-- Call `expect` with a time at which a lease runs out, or a message expires, or is no longer kept.
local function expect(time) if time < deadline then deadline = time end end

-- `freed`: a lease has ended, so claims that the limit held may have room.
local freed = false

-- Writes the earliest such time to the agenda. A claim calls it before it gives messages away.
local function note_deadline()
  if deadline >= agenda then return end
  call('ZADD', AGENDA, deadline, ARGV[3])
  call('HSET', META, 'agenda', deadline)
  agenda = deadline
end

function finish(reply)  -- its local is in guard.lua, which ends stopped scripts
  -- If another program has written to a counter, that must not turn a finished verb into an error.
  for name, n in pairs(counts) do
    counts[name] = nil
    redis.pcall('HINCRBY', META, name, n)
  end
  note_deadline()
  if soonest < head then
    call('ZADD', HEADS, soonest, ARGV[3])
    call('HSET', META, 'head', soonest)
  end
  if soonest < head or (watched and tonumber(watched) > now and soonest < math.huge) then
    redis.pcall(PUBLISH, ARGV[4], ARGV[3])  -- if the user may not, the sweep finds the change
  elseif freed and limited and redis.pcall('HDEL', META, 'held') == 1 then
    redis.pcall(PUBLISH, ARGV[4], ARGV[3])
  end
  return reply
end
