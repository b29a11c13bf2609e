-- Claims due messages. ARGV, after those of layout_take.lua: 12 the set to begin with, 13 'list' if due messages go
-- through Redisson's list, 14 the form of entries ('old', 'new', 'auto'), from 15 on the sets to look at (none: all).
-- The request bounds the work. A claim through the list also moves up to 100 messages, as Redisson does. Members that
-- are no messages count too.
free_first()

local wanted = #ARGV > 14 and {}
for i = 15, #ARGV do wanted[tonumber(ARGV[i])] = true end
local sets = {}
for i = 0, M - 1 do
  local set = (tonumber(ARGV[12]) + i) % M + 1
  if not wanted or wanted[set] then sets[#sets + 1] = set end
end

-- Moves due messages to the list, as Redisson does. Its consumers may be quicker than tarry.
local function transfer()
  local due = call('ZRANGEBYSCORE', KEYS[1], '-inf', DUE_NOW, 'WITHSCORES', 'LIMIT', 0, 100)
  for i = 1, #due, 2 do
    local id, value = unpack_entry(due[i])
    if id then
      call('RPUSH', DEST, value)
      remove(1, due[i])
    else
      set_aside(1, due[i], due[i + 1])
      report(due[i])
    end
  end
end

-- The form of the queue's entries; if the queue is empty, the remembered form; otherwise the form
-- that goes with the value's codec. Clients that know only the old form write frames of FST or JBoss
-- Marshalling.
local function form_for(value)
  if ARGV[14] ~= 'auto' then return ARGV[14] end
  local last = call('LINDEX', LIST, -1)
  local id, _, old = unpack_entry(last or '')
  if id then return old and 'old' or 'new' end
  local seen = string.match(call('GET', LEASES .. 'seen') or '', '^%a+')
  if seen then return seen end
  local old = string.find(value, '^[\252\247\246\240\239]') or string.find(value, '^\4[=>?@KLOPQ]')
  return old and 'old' or 'new'
end

-- While a value from the list is leased, it is an entry in the ZSET again, under a new id. So nobody else gets
-- it, and it falls due again if the claiming process dies.
local function take_from_list()
  local number = 0
  while left > 0 and not full do
    local value = call('LINDEX', DEST, 0)
    if not value then return end
    if #value > room and not first_goes then
      full = true
      return
    end
    number = number + 1
    local digits = sub(redis.sha1hex(nonce .. number), 1, 16)
    local id = string.gsub(digits, '..', function(h) return string.char(tonumber(h, 16)) end)
    if reply[7] == '' then reply[7] = form_for(value) end
    local entry = pack_entry(reply[7], id, value)
    hand_out(1, entry, score_of(now), now, value, true)
    call('RPUSH', LIST, entry)  -- after the ZADD: an entry in LIST alone would stay for ever
    call('LPOP', DEST)  -- last: if it is stopped before this, the value exists twice rather than being lost
  end
end

-- A score in the other unit stays where it is, and is reported.
local function due_in(set, most)
  if not looks_at_units or WRONG_FROM > now / UNIT then
    return call('ZRANGEBYSCORE', KEYS[set], '-inf', DUE_NOW, 'WITHSCORES', 'LIMIT', 0, most)
  end
  local due = call('ZRANGEBYSCORE', KEYS[set], '-inf', '(' .. WRONG_FROM, 'WITHSCORES', 'LIMIT', 0, most)
  if #due > 0 then return due end
  return call('ZRANGEBYSCORE', KEYS[set], WRONG_TO, DUE_NOW, 'WITHSCORES', 'LIMIT', 0, most)
end
local function head_of(set)
  local head = call('ZRANGE', KEYS[set], 0, 0, 'WITHSCORES')[2]
  if not head or not is_wrong(head) then return head end
  return call('ZRANGEBYSCORE', KEYS[set], WRONG_TO, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)[2]
end
local function tell_wrong(set)
  if not looks_at_units or reply[6] ~= '' then return end
  reply[6] = call('ZRANGEBYSCORE', KEYS[set], WRONG_FROM, '(' .. WRONG_TO, 'WITHSCORES', 'LIMIT', 0, 1)[2]
    or ''
end

if LAYOUT == 'redisson' then
  if ARGV[13] == 'list' then transfer() end
  take_from_list()
end
if ARGV[13] ~= 'list' then
  for _, set in ipairs(sets) do
    local found
    repeat
      -- Only a few are read at once, because their bodies may be large.
      local due = due_in(set, math.min(left, 32))
      found = #due
      for at = 1, found, 2 do
        if not full then take(set, due[at], due[at + 1]) end
      end
    until found == 0 or left == 0 or full or (no_bodies and no_bodies == bodies_of(set))
      or reply[4] + put_off >= 500
  end
end
local soonest
for _, set in ipairs(sets) do
  tell_wrong(set)
  local head = head_of(set)
  if head and (not soonest or due_of(head) < soonest) then soonest = due_of(head) end
end
return finish(soonest)
