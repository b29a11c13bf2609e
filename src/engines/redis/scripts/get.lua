-- Get. ARGV: 5 '1' with payloads, 6 bytes at most (of bodies; the first is answered anyway), then the members.
-- Answers now, until when the queue is paused (nil: not; empty: until resumed), then for each nil, or the result of
-- describe, or {member, its bytes} if there is no more room.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time()
local with_payload, most = ARGV[5] == '1', tonumber(ARGV[6])
local replies, used = { now, paused or false }, 0
for i = 7, #ARGV do
  local state, score, body = locate(ARGV[i])
  local told = false
  if state then
    local size = #body
    if not with_payload and state ~= 'remembered' then size = size - payload_of(body) end
    if used > 0 and used + size > most then
      told = { ARGV[i], size }
    else
      used = used + size
      told = describe(ARGV[i], state, score, body, with_payload)
    end
  end
  replies[#replies + 1] = told
end
return finish(replies)
