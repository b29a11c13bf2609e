-- Get. ARGV: 7 '1' with bodies, 8 bytes of room; then two for each message: set, member. Answers for each nothing, or
-- the facts of layout_describe.lua and the body; or, if there is no room for the body, its size alone; or a score
-- that is in the other unit, and 'x'.
local room = tonumber(ARGV[8])
local replies = {}

local function body_of(set, member)
  if LAYOUT == 'plain' then return member end
  if LAYOUT == 'hash' then return call('HGET', bodies_of(set), member) end
  local _, value = unpack_entry(member)
  return value
end

for at = 9, #ARGV, 2 do
  local member = ARGV[at + 1]
  local set, score = find(member)
  local key, state, due, left, attempts = describe(member, score)
  local body = body_of(set or tonumber(ARGV[at]), member)
  if not key and LAYOUT == 'hash' and body then key, state, due, left, attempts = member, 'd', '0', '', 0 end
  local answer = false
  if set and is_wrong(score) then
    answer = { score, 'x' }
  elseif key then
    local reason = (not body or state == 'd') and 'x' or ''
    body = ARGV[7] == '1' and body or ''
    if #body > room and at > 9 then
      answer = { #body }
    else
      room = room - #body
      answer = { key, state, due, left, attempts, body, reason }
    end
  end
  replies[#replies + 1] = answer
end
return replies
