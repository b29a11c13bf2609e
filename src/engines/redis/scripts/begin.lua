-- The first piece of every script with a prelude: short names, the time, and how rights are checked.
-- ARGV[2]: the time in ms (tests only; empty: the server's).
local call, floor, byte, sub, format = redis.call, math.floor, string.byte, string.sub, string.format

-- A prelude checks all rights of its script first. Rights do not change while a script runs, so a missing one never
-- stops it halfway. Redis before 7.0 has no such check.
local may = redis.acl_check_cmd

-- The server's time is read once: before Redis 7.2 it moves within a script. `now` is rounded down, so that
-- no message looks due too early. `later` is rounded up, so that no delay is shorter than asked.
local now, later
if ARGV[2] == '' then
  local time = call('TIME')
  local micros = tonumber(time[2])
  now = time[1] * 1000 + floor(micros / 1000)
  later = micros % 1000 > 0 and now + 1 or now
else
  now = tonumber(ARGV[2])
  later = now
end
