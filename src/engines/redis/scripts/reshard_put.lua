-- The mover's second step: puts copies into this open shard, which holds them (held.lua). ARGV: 5
-- the turn, then two for each message: member and copy.
local members = in_hand()
for i = 6, #ARGV, 2 do
  call('HSET', CLAIMS, 'h' .. ARGV[i], ARGV[i + 1])
  members[#members + 1] = ARGV[i]
end
call('HSET', CLAIMS, 'h', cmsgpack.pack(members))
return finish(1)
