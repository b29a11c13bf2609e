-- The mover's fourth step: makes the held copies real, and drops the void ones. ARGV: 5 the turn, then the void
-- members.
for i = 6, #ARGV do drop(ARGV[i]) end
for _, member in ipairs(in_hand()) do adopt(member) end
call('HDEL', CLAIMS, 'h')
return finish(1)
