-- Pushes messages that come from another store, with their past.
--
-- ARGV: 5 how many, then four for each message: member, body, due time, and its past: empty, or its tallies, 'L' or
-- 'D' (dead), and why it is dead; then the length of the longest body; at last a letter for each message: what to do
-- if its key is taken. Answers as push does.
call('HSET', META, 'generation', ARGV[1])
apply_time()
is_move = true
local rules = ARGV[#ARGV]
for i = 1, tonumber(ARGV[5]) do
  local at = 2 + 4 * i
  local member, body, due, carried = ARGV[at], ARGV[at + 1], due_time(ARGV[at + 2]), ARGV[at + 3]
  if not due then
    tell(i, 'far', '', 0)
  elseif carried == '' or locate(member) then
    push_onto(i, member, body, due, sub(rules, i, i))
  elseif sub(carried, 25, 25) == 'D' then
    call('HSET', MSGS, member, expiry.of_push(body, due, true))
    die(member, due, read_past(carried), sub(carried, 26))
    count('accepted')
  else
    body = expiry.of_push(body, due, true)
    call('HSET', MSGS, member, body)
    call('HSET', PAST, member, sub(carried, 1, 24))
    put_waiting(member, due + 0.5, body)
    count('accepted')
  end
end
local long = ARGV[6 + 4 * tonumber(ARGV[5])]
if tonumber(long) > tonumber(largest or 0) then call('HSET', META, 'largest', long) end
return finish(reply)
