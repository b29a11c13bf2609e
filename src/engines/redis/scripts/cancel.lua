-- Cancel. ARGV: 5 '' and from 6 on the members; or 'm', and from 6 on the expected state of each and its member, for
-- messages that live in another store now. Answers for each the result of cancel_one.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time()
local replies = {}
if ARGV[5] == '' then
  for i = 6, #ARGV do replies[i - 5] = cancel_one(ARGV[i]) end
else
  for i = 6, #ARGV, 2 do replies[i / 2 - 2] = cancel_one(ARGV[i + 1], ARGV[i]) end
end
return finish(replies)
