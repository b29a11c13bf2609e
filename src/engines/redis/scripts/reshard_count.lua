-- Adds the counters of an old shard, once. ARGV: 5 the turn, 6 that shard's number, then two for each counter: its
-- name and value.
local FROM = 'from:' .. ARGV[6]
if call('HGET', META, FROM) then return 0 end
-- One write adds everything, and records that it was done. So wherever the script is stopped, all counters are
-- added or none.
local written = { FROM, 1 }
for i = 7, #ARGV, 2 do
  written[#written + 1] = ARGV[i]
  written[#written + 1] = format('%.0f', (tonumber(call('HGET', META, ARGV[i]) or 0) or 0) + ARGV[i + 1])
end
call('HSET', META, unpack(written))
return finish(1)
