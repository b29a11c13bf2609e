-- The rest of a push whose bodies and due times were written by plain commands before this, in the same MULTI: new
-- messages, generated keys, default priority. A script would copy each of them three times. If this script fails, for
-- any reason, it undoes those writes, and nobody has seen them. It is sent as a text each time (EVAL), so that the
-- server always has it. So it is short, and has its own form of what prelude.lua does for other scripts.
--
-- KEYS as for all scripts on a shard. ARGV: 1 to 4 as in the prelude, 5 how many, 6 the soonest due time, 7 the
-- length of the longest body, 8 the members, six bytes each. Answers an empty list.
local META, MSGS, DUE, HEADS = KEYS[1], KEYS[2], KEYS[3], KEYS[12]
local call, refuse, sub = redis.call, redis.error_reply, string.sub

local function attempt()
  if redis.acl_check_cmd and not redis.acl_check_cmd('HINCRBY', META, '', 0) then
    return refuse('NOPERM this user may not count')
  end
  local generation, largest, head, watched, settings =
    unpack(call('HMGET', META, 'generation', 'largest', 'head', 'watched', 'settings'))
  if not generation then return refuse('GONE the queue is not there') end
  if generation ~= ARGV[1] then return refuse('STALE the queue has other shards now') end
  if not tonumber(largest or 0) or not tonumber(watched or 0) then
    return refuse('BROKEN ' .. META .. ' watched ' .. tostring(watched) .. ', largest ' .. tostring(largest))
  end
  if string.find(settings or '', '%a %d+ [1-9]') then return refuse('EXPIRES the messages of this queue') end
  local first = sub(ARGV[8], 1, 6)
  if not call('ZSCORE', DUE, first) or call('HEXISTS', MSGS, first) == 0 then
    return refuse('BROKEN ' .. MSGS .. ' or ' .. DUE .. ' took nothing')
  end
  if tonumber(ARGV[7]) > tonumber(largest or 0) then call('HSET', META, 'largest', ARGV[7]) end
  local sooner = tonumber(ARGV[6]) < (tonumber(head or '') or math.huge)
  if sooner then
    call('ZADD', HEADS, ARGV[6], ARGV[3])
    call('HSET', META, 'head', ARGV[6])
  end
  -- From here on nothing fails, not even because of values that another program wrote.
  redis.pcall('HINCRBY', META, 'accepted', ARGV[5])
  if watched and not sooner then
    local now = ARGV[2] ~= '' and tonumber(ARGV[2]) or call('TIME')[1] * 1000
    watched = tonumber(watched) > now
  end
  if sooner or watched then redis.pcall(PUBLISH, ARGV[4], ARGV[3]) end
  return {}
end

local done, reply = pcall(attempt)
if done and not reply.err then return reply end
local members = {}
for at = 1, #ARGV[8], 6 do members[#members + 1] = sub(ARGV[8], at, at + 5) end
redis.pcall('ZREM', DUE, unpack(members))
redis.pcall('HDEL', MSGS, unpack(members))
return type(reply) == 'table' and reply or refuse(tostring(reply))
