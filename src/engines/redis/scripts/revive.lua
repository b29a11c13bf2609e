-- Revive: revives the named dead messages, or a slice of all of them. ARGV: 5 how many of all (0: the members
-- that follow). Answers how many, and '1' if there are more, unless this slice has moved none.
call('HSET', META, 'generation', ARGV[1])  -- refused here while Redis is full
apply_time()
local slice, revived = tonumber(ARGV[5]), 0

local function revive_one(member, body)
  local past = read_past(call('HGET', PAST, member))
  past[1], past[6] = 0, past[6] + 1
  local moved = expiry and expiry.moved(body, now) or body
  if moved ~= body then call('HSET', MSGS, member, moved) end
  put_waiting(member, now + 0.5, moved)
  call('ZREM', DEAD, member)
  call('HSET', PAST, member, pack_past(past))
  count('revives')
  revived = revived + 1
end

local function try(member)
  local state, _, body = locate(member)
  if state == 'dead' then
    revive_one(member, body)
  else
    call('ZREM', DEAD, member)  -- its body was deleted, or it is no longer dead
  end
end

if slice == 0 then
  for i = 6, #ARGV do try(ARGV[i]) end
  return finish({ revived, 0 })
end
local before = call('ZCARD', DEAD)
local found = call('ZRANGE', DEAD, 0, slice - 1)
for _, member in ipairs(found) do
  if member ~= '' then try(member) end
end
local after = call('ZCARD', DEAD)
return finish({ revived, after > 1 and after < before and 1 or 0 })
