-- For messages that are absent in the closed shards: makes their held copies real, or drops them. ARGV: from 5 on,
-- two for each message: 'g' or 'v' as parted answers, and the member.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
for i = 5, #ARGV, 2 do
  if ARGV[i] == 'v' then drop(ARGV[i + 1]) else adopt(ARGV[i + 1]) end
end
return finish(1)
