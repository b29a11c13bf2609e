-- The mover's fourth step: what is held here is made real, but for what is void. ARGV: 5 the turn, then the
-- void members.
for i = 6, #ARGV do drop(ARGV[i]) end
for _, member in ipairs(in_hand()) do adopt(member) end
call('HDEL', CLAIMS, 'h')
return finish(1)
