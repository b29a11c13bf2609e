-- Begins a step of a turn; each step can begin only once. Runs on the first closed shard. ARGV: 5 the turn, 6
-- the step's number, from 1 on.
local known = call('HGET', META, 'step') or ''
if ARGV[6] ~= '1' and known ~= ARGV[5] .. ' ' .. format('%.0f', ARGV[6] - 1) then
  return redis.error_reply('FENCED step ' .. ARGV[6] .. ' of turn ' .. ARGV[5] .. ', behind ' .. known)
end
call('HSET', META, 'step', ARGV[5] .. ' ' .. ARGV[6])
return 1
