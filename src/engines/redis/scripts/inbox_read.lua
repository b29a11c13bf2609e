-- Reads the entries at the head of a partition's inbox, or after one that waits, in order.
--
-- KEYS: 1 the inbox, 2 its set-aside entries, 3 the process that drains it, 4 and 5 the partition's heads and agenda.
-- Missing keys are made and stay, as a shard's keys do: the sweep asks for them together, even if the partition has
-- no shard. ARGV: 1 the time in ms (tests only; empty: the server's), 2 the caller's name, 3 for how many ms other
-- processes leave the inbox to it, 4 entries at most, 5 bytes at most (one entry may exceed them), 6 bytes of the
-- longest entry that is handed out, 7 from where: '-', or '(' and the id of the entry before. Answers now, later, '1'
-- if another process drains it, and for each entry its id and its fields and values, or, if it is too long, its
-- number of bytes.
local IN, BAD, BY = KEYS[1], KEYS[2], KEYS[3]
local call = redis.call
for i, wanted in ipairs({ 'stream', 'stream', 'hash', 'zset', 'zset' }) do
  local kind = call('TYPE', KEYS[i]).ok
  if kind ~= 'none' and kind ~= wanted then
    return redis.error_reply('FOREIGN ' .. KEYS[i] .. ' is a ' .. kind)
  end
  if kind == 'none' then
    if wanted == 'stream' then
      call('XADD', KEYS[i], '0-1', '', '')
      local taken = redis.pcall('XDEL', KEYS[i], '0-1')
      if type(taken) == 'table' then  -- without this right the error would be taken for an entry
        call('DEL', KEYS[i])
        return redis.error_reply(taken.err)
      end
    elseif wanted == 'hash' then
      call('HSET', KEYS[i], '', '')
    else
      call('ZADD', KEYS[i], '+inf', '')
    end
  end
end

local now, later = tonumber(ARGV[1]), tonumber(ARGV[1])
if not now then
  local time = call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
  later = time[2] % 1000 > 0 and now + 1 or now
end
local reply = { now, later, '' }

local hold = tonumber(ARGV[3])
local who, till = unpack(call('HMGET', BY, 'who', 'till'))
till = tonumber(till or 0)
-- A `till` that is further ahead was written before the clock was set back, and does not count.
if who and who ~= ARGV[2] and till > now and till <= now + hold then
  reply[3] = '1'
  return reply
end

local function bytes_of(fields)
  local bytes = 0
  for i = 1, #fields do bytes = bytes + #fields[i] end
  return bytes
end

-- The length of an entry is not known before it is read. So the first read takes one entry, and later reads as
-- many as would fit by the average length so far; but never many at once, because the next ones may be far
-- longer.
local AT_ONCE = 8
local most, most_bytes, longest = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local count, used, from, ask = 0, 0, ARGV[7], 1
while count < most and used < most_bytes do
  local found = call('XRANGE', IN, from, '+', 'COUNT', ask)
  for i = 1, #found do
    local id, fields = found[i][1], found[i][2]
    local bytes = bytes_of(fields)
    if bytes > longest then fields = bytes end
    reply[2 * count + 4], reply[2 * count + 5] = id, fields
    count, used, from = count + 1, used + math.min(bytes, longest), '(' .. id
    if used >= most_bytes then break end
  end
  if #found < ask then break end
  ask = math.floor((most_bytes - used) / math.max(1, used / count))
  ask = math.max(1, math.min(ask, most - count, AT_ONCE))
end

if count > 0 and hold > 0 then
  call('HSET', BY, 'who', ARGV[2], 'till', string.format('%.0f', now + hold))
end
return reply
