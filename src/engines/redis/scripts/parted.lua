-- Tells what became of messages that this closed shard had. ARGV: from 5 on the members. Answers for each 'h' (the
-- message is here), 'v' (it ended here, so a held copy is void), or 'g' (it has left, so a held copy is real).
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time()
local replies = {}
for i = 5, #ARGV do
  local there = locate(ARGV[i])
  local noted = not there and call('HEXISTS', CLAIMS, 'h' .. ARGV[i]) == 1 and not has_left(ARGV[i])
  replies[i - 4] = there and 'h' or noted and 'v' or 'g'
end
return finish(replies)
