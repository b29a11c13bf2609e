-- Push on a closed shard. Keys that the shard has are handled here; for other keys the answer is 'absent', which is
-- final.
--
-- ARGV: 5 how many, 6 one letter for each message as in push, then three for each message: member, body, due
-- time; at last the length of the longest body. Answers as push.
call('HSET', META, 'generation', ARGV[1])  -- refused here while Redis is full
apply_time()
local n = tonumber(ARGV[5])
for i = 1, n do
  local member, body, due = ARGV[3 * i + 4], ARGV[3 * i + 5], due_time(ARGV[3 * i + 6])
  if not due then
    tell(i, 'far', '', 0)
  elseif locate(member) then
    push_onto(i, member, body, due, sub(ARGV[6], i, i))
  else
    tell(i, 'absent', '', 0)
  end
end
local long = ARGV[7 + 3 * n]
if tonumber(long) > tonumber(largest or 0) then call('HSET', META, 'largest', long) end
return finish(reply)
