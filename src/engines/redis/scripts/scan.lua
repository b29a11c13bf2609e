-- Scan: a page of the messages, in no order. A message that exists from the first page to the last is listed at least
-- once, wherever it moves meanwhile: HSCAN promises that for MSGS, but only for one server. A cursor means nothing to
-- another server, nor to the same one after a restart: there the scan begins again.
--
-- ARGV: 5 the server that gave the cursor (empty: none), 6 the cursor, 7 about how many to look at. Answers now,
-- the server, the cursor to continue with ('0': none), and then the result of describe for each.
apply_time()
apply_step()
local info = redis.pcall('INFO', 'server')  -- a service may have none in scripts
local here = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or '0'
local found = call('HSCAN', MSGS, ARGV[5] == here and ARGV[6] or '0', 'COUNT', ARGV[7])
local replies = { now, here, found[1] }
for i = 1, #found[2], 2 do
  local state, at, body
  if found[2][i] ~= '' then state, at, body = locate(found[2][i]) end
  if state then replies[#replies + 1] = describe(found[2][i], state, at, body, false) end
end
return finish(replies)
