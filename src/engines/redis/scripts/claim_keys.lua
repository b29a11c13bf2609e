-- Claims the named messages if they are due. If asked, claims them in any state except leased.
--
-- ARGV: 5 messages at most, 6 lease, 7 and 8 as for claim, 9 '1' for any state, 10 until when changes are to be
-- published if nothing is found (ms from now; empty: not), then the members. Answers as claim.
if limited and not gate then
  return redis.error_reply('LIMITED ' .. ARGV[3] .. ' needs the keys of all shards')
end
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
if paused then return paused_reply() end
apply_time()
local most_bytes, first_anyway = tonumber(ARGV[7]), ARGV[8] == '1'
local left, any_state = tonumber(ARGV[5]), ARGV[9] == '1'
if gate then left = math.min(left, gate.open()) end
local again = math.huge
local leaving, taken = {}, {}  -- taken away when the leases are written: each has its place always

for i = 11, #ARGV do
  local member = ARGV[i]
  local state, score, body
  if not taken[member] then state, score, body = locate(member) end
  local due = state == 'waiting' and floor(plain(score)) or nil
  if due and due > now and not any_state then
    again = math.min(again, due)
  elseif left > 0 and (due or (state == 'dead' and any_state)) then
    if fitting({ body }, 1, most_bytes, first_anyway) == 0 then break end
    if due then
      local place, priority = score, priority_of(body)
      leaving[#leaving + 1] = function() take_waiting(member, place, priority) end
      score = plain(score)
    else
      -- A claimed dead message starts again, with its tallies kept.
      local text = call('HGET', PAST, member)
      local past = read_past(text)
      past[1] = 0
      leaving[#leaving + 1] = function()
        call('ZREM', DEAD, member)
        call('HSET', PAST, member, pack_past(past))
      end
      score = struct.unpack('<I6', text, 25) + 0.5
    end
    taken[member] = true
    add(member, score % 1 == 0 and format('%.0f', score) or format('%.1f', score), body)
    left = left - 1
  end
end

local lease, runs, entry = lease_out(ARGV[6] ~= '' and tonumber(ARGV[6]) or setting('lease'))
for _, leave in ipairs(leaving) do leave() end
if expiry then expiry.leave(members, bodies) end
local next_look = ''
if #bodies == 0 then
  if ARGV[10] ~= '' then call('HSET', META, 'watched', format('%.0f', now + ARGV[10])) end
  next_look = look_again(again == math.huge and '' or format('%.0f', again))
else
  note_head()
end
local reply = { now, lease, fence, entry, bodies, pasts_of(members, runs), next_look }
return finish(gate and gate.told(reply) or reply)
