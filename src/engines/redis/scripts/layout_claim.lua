-- Claim what is due. ARGV, behind those of layout_take.lua: 12 the set to begin with, 13 'list' if
-- what is due goes through Redisson's list. Bounded by what was asked for; a claim through the list
-- moves 100 more, as Redisson does, and what is no message costs too.
free_first()

-- As Redisson does, whose consumers may be quicker than we are.
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

-- What was moved to the list goes back under a new id while it is leased: so it is nobody else's,
-- and falls due again when its claimer dies.
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
    local entry = pack_entry(id, value)
    call('LPOP', DEST)
    call('RPUSH', LIST, entry)
    hand_out(1, entry, score_of(now), now, value, true)
  end
end

if LAYOUT == 'redisson' then
  if ARGV[13] == 'list' then transfer() end
  take_from_list()
end
if ARGV[13] ~= 'list' then
  for i = 0, M - 1 do
    local set = (tonumber(ARGV[12]) + i) % M + 1
    local found
    repeat
      -- A few at once: their bodies may be large.
      local due = call('ZRANGEBYSCORE', KEYS[set], '-inf', DUE_NOW, 'WITHSCORES', 'LIMIT', 0,
        math.min(left, 32))
      found = #due
      for at = 1, found, 2 do
        if not full then take(set, due[at], due[at + 1]) end
      end
    until found == 0 or left == 0 or full or (no_bodies and no_bodies == bodies_of(set))
      or reply[4] + put_off >= 500
  end
end
local soonest
for set = 1, M do
  local head = call('ZRANGE', KEYS[set], 0, 0, 'WITHSCORES')[2]
  if head and (not soonest or due_of(head) < soonest) then soonest = due_of(head) end
end
return finish(soonest)
