-- Checks whose turn it is to move: a mover that another one has replaced is refused. ARGV: 5 the turn; 0: of a caller
-- that does not move.
local turn = tonumber(ARGV[5])
if turn > 0 then
  local known = tonumber(call('HGET', META, 'turn') or 0)
  if turn < known then return redis.error_reply('FENCED by turn ' .. known) end
  if turn > known then call('HSET', META, 'turn', ARGV[5]) end
end

-- The noted or held members: in a closed shard those that were read, in an open one those that were put.
local function in_hand()
  local packed = call('HGET', CLAIMS, 'h')
  return packed and cmsgpack.unpack(packed) or {}
end
