-- Reschedule. ARGV: from 5 on, three for each message: member, due time, priority (empty: unchanged). Answers for
-- each the result of reschedule_one.
call('HSET', META, 'generation', ARGV[1])  -- refused here while Redis is full
apply_time()
local replies = {}

for at = 5, #ARGV, 3 do
  replies[#replies + 1] = reschedule_one(ARGV[at], ARGV[at + 1], ARGV[at + 2])
end
return finish(replies)
