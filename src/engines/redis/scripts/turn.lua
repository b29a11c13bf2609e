-- Checks whose turn it is to move: a mover that another one has replaced is refused. ARGV: 5 the turn; 0 if the
-- caller does not move.
local turn = tonumber(ARGV[5])
if turn > 0 then
  local known = tonumber(call('HGET', META, 'turn') or 0)
  if turn < known then return redis.error_reply('FENCED by turn ' .. known) end
  if turn > known then call('HSET', META, 'turn', ARGV[5]) end
end

-- The members with a note or a held copy. In a closed shard these are messages that the mover has read
-- (and noted); in an open shard, copies that it has put there.
local function in_hand()
  local packed = call('HGET', CLAIMS, 'h')
  return packed and cmsgpack.unpack(packed) or {}
end
