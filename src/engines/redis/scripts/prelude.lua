-- What every script on a queue's shard begins with: its keys, the time, what META says.
-- docs/formats/redis.md describes keys, fields and members.
--
-- A script's common case stands right behind this, before the functions that the others need: to make
-- those takes Redis longer than what many calls do.
--
-- ARGV: 1 the generation of the queue's shards that the caller knows, 2 the time in ms (tests only;
-- empty: the server's), 3 the shard's name in heads and agenda, 4 the channel for wake-ups;
-- what follows is the script's own.
local META, MSGS, DUE, ODD, READY, LEASED, CLAIMS, LEASES, PAST, DEAD, DONE, HEADS, AGENDA =
  unpack(KEYS)
local call, floor, byte, sub, format = redis.call, math.floor, string.byte, string.sub, string.format

-- Rights stay as they are while a script runs: one that has been taken away is met here, not in the midst
-- of what follows. Before 7.0 Redis cannot tell.
local may = redis.acl_check_cmd
if may and not (may('HSET', META, '', '') and may('HDEL', META, '') and may('HINCRBY', META, '', 0)
  and may('ZADD', META, 0, '') and may('ZREM', META, '') and may('ZREMRANGEBYRANK', META, 0, 0)) then
  return redis.error_reply('NOPERM this user may not write all that scripts write to ' .. META)
end

local generation, settings, paused, watched, agenda, head, has_odd, largest, bulk = unpack(call('HMGET', META,
  'generation', 'settings', 'paused', 'watched', 'agenda', 'head', 'odd', 'largest', 'bulk'))
bulk = bulk or '0'
if not generation then return redis.error_reply('GONE the queue is not there') end
if generation ~= ARGV[1] then return redis.error_reply('STALE the queue has other shards now') end
-- What others wrote there is told before anything is done.
if not settings or not string.match(settings, '^%d+ %d+ %d+ %d+ %d+ %d+ %a[ %w]*$') or not tonumber(largest or 0)
  or not tonumber(watched or 0) or (paused or '') ~= '' and not tonumber(paused)
  or not string.find(bulk, '^%d+') then
  return redis.error_reply('BROKEN ' .. META .. ' settings ' .. tostring(settings) .. ', paused '
    .. tostring(paused) .. ', watched ' .. tostring(watched) .. ', largest ' .. tostring(largest)
    .. ', bulk ' .. bulk)
end

-- Asked once: before Redis 7.2 it moves within a script. `now` is rounded down, for what must not
-- look due before it is; `later` is rounded up, for delays, which must not be shorter than asked.
local now, later
if ARGV[2] == '' then
  local time = call('TIME')
  local micros = tonumber(time[2])
  now = time[1] * 1000 + floor(micros / 1000)
  later = micros % 1000 > 0 and now + 1 or now
else
  now = tonumber(ARGV[2])
  later = now
end
paused = paused and (paused == '' or tonumber(paused) > now) and paused

-- No lease ends, and nothing expires, before `agenda`; nothing waits to be claimed before `head`.
agenda = agenda and tonumber(agenda) or math.huge
head = head and tonumber(head) or math.huge

-- Counters and what becomes sooner are gathered, and written by `finish`, which scripts end with. What is counted is
-- counted right behind the write that makes it so: a script may be stopped at any call.
local counts, soonest, deadline = {}, math.huge, math.huge
local function count(name, n) counts[name] = (counts[name] or 0) + (n or 1) end
-- Something can be claimed from then on.
local function wake(due) if due < soonest then soonest = due end end
-- Time does something to a message then: a lease runs out, the dead or the remembered expire.
local function expect(time) if time < deadline then deadline = time end end

-- Written before what it waits for is given away.
local function note_deadline()
  if deadline >= agenda then return end
  call('ZADD', AGENDA, deadline, ARGV[3])
  call('HSET', META, 'agenda', deadline)
  agenda = deadline
end

function finish(reply)  -- its local is in guard.lua, which ends what is stopped in its midst
  -- A counter that others have written to must not make an error of what is done.
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
    redis.pcall(PUBLISH, ARGV[4], ARGV[3])  -- where the user may not, the sweep comes anyway
  end
  return reply
end
