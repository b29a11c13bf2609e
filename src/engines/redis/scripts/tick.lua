-- The work that time causes without a request: leases run out, messages expire, dead and remembered ones are no longer
-- kept. ARGV: 5 how many leases at most, and how many of those. Answers 1 if there is more to do.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
if agenda > now then note_agenda() end
return finish(apply_time(tonumber(ARGV[5])) and 1 or 0)
