-- Stats. Answers now, the settings, until when it is paused (nil: not; empty: until resumed), how many are scheduled,
-- ready, leased, dead and remembered, the due time of the oldest ready one (or empty), and META's fields.
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time(1000)
apply_step()
finish()
local NOW = format('%.0f.75', now)
local BEHIND, READY_ON = '(' .. NOW, format('%.0f', BIG)
local scheduled = call('ZCOUNT', DUE, BEHIND, '(+inf') + call('ZCOUNT', ODD, BEHIND, '(' .. READY_ON)
local ready = call('ZCOUNT', DUE, '-inf', NOW) + call('ZCOUNT', ODD, '-inf', NOW)
  + call('ZCARD', READY) - 1
local oldest = math.huge
local function look(key, from, to)
  local found = call('ZRANGEBYSCORE', key, from, to, 'WITHSCORES', 'LIMIT', 0, 1)
  if found[1] then oldest = math.min(oldest, floor(plain(tonumber(found[2])))) end
end
look(DUE, '-inf', NOW)
look(ODD, '-inf', NOW)
look(ODD, READY_ON, '(+inf')
return { now, settings, paused, scheduled, ready, call('HLEN', LEASED) - 1 + bulk_total(),
  call('ZCARD', DEAD) - 1, call('ZCARD', DONE) - 1,
  oldest == math.huge and '' or format('%.0f', oldest), call('HGETALL', META) }
