-- Of messages that are absent in the closed shards: what is held of them is made real, or dropped. ARGV: from
-- 5 on two a message, 'g' or 'v' as parted says, and the member.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
for i = 5, #ARGV, 2 do
  if ARGV[i] == 'v' then drop(ARGV[i + 1]) else adopt(ARGV[i + 1]) end
end
return finish(1)
