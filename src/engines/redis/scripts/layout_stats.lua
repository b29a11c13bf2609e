-- Answers now, how many wait, how many of these are due, how many cannot fall due (set aside, or a body without a
-- member), when the oldest due one fell due (empty: none), and how many have been moved away lately.
local all, due, bodies, oldest = 0, 0, 0, nil
for set = 1, M do
  all = all + call('ZCARD', KEYS[set])
  due = due + call('ZCOUNT', KEYS[set], '-inf', DUE_NOW)
  local head = call('ZRANGE', KEYS[set], 0, 0, 'WITHSCORES')[2]
  if head and tonumber(head) <= now / UNIT and (not oldest or due_of(head) < oldest) then
    oldest = due_of(head)
  end
end
local stray = call('ZCARD', ASIDE)
if LAYOUT == 'hash' then
  for i = M + 2, #KEYS do bodies = bodies + call('HLEN', KEYS[i]) end
  if bodies > all then stray = stray + bodies - all end
end
if LAYOUT == 'redisson' then
  local moved = call('LLEN', DEST)
  all, due = all + moved, due + moved
end
return { format('%.0f', now), all, due, stray, oldest and format('%.0f', oldest) or '',
  call('GET', LEASES .. 'moved') or '0' }
