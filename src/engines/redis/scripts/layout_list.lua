-- Lists one set, by score and then by member. ARGV: 7 set (M + 1: the set-aside entries), 8 the score listed last
-- (empty: from the start), 9 the key listed last, 10 how many with that score were listed, 11 how many to look at.
-- Answers whether there may be more, and eight for each message: the facts of layout_describe.lua, the score and the
-- number after which to continue, and 'x' if the member is no message.
local set, most = KEYS[tonumber(ARGV[7])], tonumber(ARGV[11])
local from = 0
if ARGV[8] ~= '' then
  local before = call('ZCOUNT', set, '-inf', '(' .. ARGV[8])
  local rank = LAYOUT ~= 'redisson' and call('ZSCORE', set, ARGV[9]) == ARGV[8]
    and call('ZRANK', set, ARGV[9])
  from = rank and rank + 1 or before + tonumber(ARGV[10])
end
local found = call('ZRANGE', set, from, from + most - 1, 'WITHSCORES')
local reply = { #found == most * 2 and 1 or 0 }
local score, before
for i = 1, #found, 2 do
  if found[i + 1] ~= score then
    score = found[i + 1]
    before = call('ZCOUNT', set, '-inf', '(' .. score)
  end
  local at, member = #reply, found[i]
  reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4], reply[at + 5] = describe(member, score)
  reply[at + 6], reply[at + 7], reply[at + 8] = score, from + (i + 1) / 2 - before, ''
  if set == ASIDE then
    reply[at + 2], reply[at + 8] = 'd', 'x'
  elseif LAYOUT == 'hash' and call('HEXISTS', bodies_of(tonumber(ARGV[7])), member) == 0 then
    reply[at + 8] = 'x'
  end
end
return reply
