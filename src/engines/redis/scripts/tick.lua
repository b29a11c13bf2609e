-- What time does when nobody asks: leases run out, the dead and the remembered expire. ARGV: 5 how
-- many at most of each. Answers 1 where there is more to do.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
if agenda > now then note_agenda() end
return finish(apply_time(tonumber(ARGV[5])) and 1 or 0)
