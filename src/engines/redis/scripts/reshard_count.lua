-- Adds what an old shard has counted, once. ARGV: 5 the turn, 6 that shard's number, then two a counter: its
-- name and value.
local FROM = 'from:' .. ARGV[6]
if call('HGET', META, FROM) then return 0 end
for i = 7, #ARGV, 2 do count(ARGV[i], tonumber(ARGV[i + 1])) end
call('HSET', META, FROM, 1)
return finish(1)
