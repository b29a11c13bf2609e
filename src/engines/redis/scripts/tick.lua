-- The work that time causes without a request: leases run out, dead and remembered messages expire. ARGV: 5 how many
-- at most of each. Answers 1 if there is more to do.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
if agenda > now then note_agenda() end
return finish(apply_time(tonumber(ARGV[5])) and 1 or 0)
