-- Push, in the cases that push_fast.lua does not handle: a key is taken, or each message must be looked at for
-- another reason. While Redis is full, the first write is refused, so nothing is done.
call('HSET', META, 'generation', ARGV[1])
apply_time()
for i = 1, n do
  local member, body = ARGV[first + 2 * i - 1], ARGV[first + 2 * i]
  if not dues[i] then
    tell(i, 'far', '', 0)
  else
    push_onto(i, member, body, dues[i], sub(rules, i, i))
  end
end
if tonumber(ARGV[8 + 3 * n]) > tonumber(largest or 0) then
  call('HSET', META, 'largest', ARGV[8 + 3 * n])
end
return finish(reply)
