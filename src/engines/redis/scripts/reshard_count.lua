-- Adds the counters of an old shard, once. ARGV: 5 the turn, 6 that shard's number, then two for each counter: its
-- name and value. `bucket` is no counter: it is taken if no claim has brought it here.
local FROM = 'from:' .. ARGV[6]
if call('HGET', META, FROM) then return 0 end
-- One write adds everything, and records that it was done. So wherever the script is stopped, all counters are
-- added or none.
local written = { FROM, 1 }
for i = 7, #ARGV, 2 do
  local here = call('HGET', META, ARGV[i])
  if ARGV[i] ~= 'bucket' then
    written[#written + 1] = ARGV[i]
    written[#written + 1] = format('%.0f', (tonumber(here or 0) or 0) + ARGV[i + 1])
  elseif not here then
    written[#written + 1], written[#written + 2] = 'bucket', ARGV[i + 1]
  end
end
call('HSET', META, unpack(written))
return finish(1)
