-- This script runs before a queue is removed. It checks that no message of the shard is leased, and prevents claims
-- for a while. KEYS as for all scripts on a shard. ARGV: 5 'hold', and then for how many ms nothing is to be claimed;
-- or 'free', and then the last answer of 'hold'. Answers three values: how many messages are leased; until when
-- nothing is claimed (empty if the script did not change that); until when the shard was paused before ('-': it was
-- not).
if ARGV[5] == 'free' then
  if ARGV[6] ~= '' and call('HGET', META, 'paused') == ARGV[6] then
    if ARGV[7] == '-' then
      call('HDEL', META, 'paused')
    else
      call('HSET', META, 'paused', ARGV[7])
    end
    redis.pcall(PUBLISH, ARGV[4], ARGV[3])
  end
  return finish({ 0, '', '-' })
end
call('HDEL', META, '')  -- a first write that is allowed while Redis is full
apply_time(1000)
local leased = call('HLEN', LEASED) - 1 + bulk_total()
if leased > 0 then return finish({ leased, '', '-' }) end
local till = now + tonumber(ARGV[6])
if paused == '' or paused and tonumber(paused) >= till then return finish({ 0, '', '-' }) end
till = format('%.0f', till)
call('HSET', META, 'paused', till)
return finish({ 0, till, paused or '-' })
