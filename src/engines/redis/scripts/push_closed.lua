-- Push onto a closed shard: the verb table for keys that it holds; the others are answered 'absent', which is final.
--
-- ARGV: 5 how many, 6 one letter a message as in push, then three a message: member, body, due time; at last
-- the length of the longest body. Answers as push.
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
