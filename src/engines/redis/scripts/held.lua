-- Held: the copies that the mover has put into this shard, which no verb may see yet. CLAIMS has each under `h` and
-- its member: the set of the old shard that it was in, its score, body and past.
local SETS = { 'w', 'w', 'd', 'r' }  -- DUE, ODD, DEAD, DONE
local longest = tonumber(largest or 0)

local function drop(member) call('HDEL', CLAIMS, 'h' .. member) end

local function adopt(member)
  local packed = call('HGET', CLAIMS, 'h' .. member)
  if not packed then return end
  -- If the shard has the message, the copy is void. A body alone does not count: a stopped call has
  -- left it, because the copy is deleted last.
  if locate(member) then return drop(member) end
  local set, text, body, past = unpack(cmsgpack.unpack(packed))
  local score = tonumber(text)
  expiry.note(body)
  call('HSET', MSGS, member, body)
  if past then call('HSET', PAST, member, past) end
  if set <= 2 then
    put_waiting(member, score, body)
  else
    call('ZADD', set == 3 and DEAD or DONE, text, member)
    expect(score)
    if set == 3 and watched then wake(now) end
  end
  count('came_' .. SETS[set])
  if #body > longest then
    longest = #body
    call('HSET', META, 'largest', longest)
  end
  drop(member)
end
