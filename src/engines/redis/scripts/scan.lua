-- Scan: a page of what there is, in no order. What is there from the first page to the last is told
-- at least once, wherever it has gone meanwhile: that is what HSCAN promises of MSGS. It does for one
-- server, whose cursors mean nothing to another, nor to itself once it was started again: there the
-- scan begins anew.
--
-- ARGV: 5 the server that the cursor is of (empty: none), 6 the cursor, 7 how many to look at, which
-- may be a few more. Answers now, the server, the cursor to go on with ('0': none), and then what
-- describe tells of each.
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
