-- The mover's first step: copies the waiting, dead and remembered messages of this shard, and notes a checksum
-- of each copy. The notes of the slice before are removed, because the mover is done with them. ARGV: 5 the
-- turn, 6 how many at most, 7 bytes. Answers for each the member and its copy.
apply_time()
for _, member in ipairs(in_hand()) do call('HDEL', CLAIMS, 'h' .. member) end
call('HDEL', CLAIMS, 'h')
local left, room = tonumber(ARGV[6]), tonumber(ARGV[7])
local members, replies = {}, {}
for set, key in ipairs(PLACES) do
  -- Messages are read from the set's end, which claims do not reach soon. The last member is the
  -- placeholder.
  local found = left > 0 and room > 0 and call('ZREVRANGE', key, 1, left) or {}
  for _, member in ipairs(found) do
    if room <= 0 then break end
    local copy, score, _, size = entry_of(set, member)
    if copy then
      call('HSET', CLAIMS, 'h' .. member, set .. redis.sha1hex(copy))
      members[#members + 1] = member
      replies[#replies + 1], replies[#replies + 2] = member, copy
      room = room - size
    else  -- another program deleted its body
      score = tonumber(call('ZSCORE', key, member))
      if set == 2 then take_waiting(member, score, 0) else call('ZREM', key, member) end
      count('damaged')
    end
    left = left - 1
  end
end
if #members > 0 then call('HSET', CLAIMS, 'h', cmsgpack.pack(members)) end
return finish(replies)
