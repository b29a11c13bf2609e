-- Entries that the closed shards took from inboxes count as taken here too. A process may have had such an entry
-- since before the reshard, and must not have it carried out again. ARGV: 5 the turn, then two for each inbox: the
-- field of META that inbox_take keeps, and the last entry taken.
for i = 6, #ARGV, 2 do
  local last = sub(call('HGET', META, ARGV[i]) or '', 1, #ARGV[i + 1])
  if last < ARGV[i + 1] then call('HSET', META, ARGV[i], ARGV[i + 1]) end
end
return finish(1)
