-- The end of a closed shard. Only its generation stays, which says that it is gone: a late process must not make it
-- again. KEYS as for all scripts on a shard, then the names that MSGS and DUE had. ARGV: 5 the turn, 6 the number of
-- the generation that took its place. Answers 0, and changes nothing, if the shard still has messages.
if call('HLEN', MSGS) > 1 or call('HLEN', LEASED) > 1 or bulk_total() > 0 then return 0 end
call('ZREM', HEADS, ARGV[3])
call('ZREM', AGENDA, ARGV[3])
call('HSET', META, 'generation', 'gone ' .. ARGV[6], 'left', 1)
clear_gone()
return 1
