-- Deletes all keys of a retired shard except META. Of META's fields it keeps those that say that the shard is
-- gone. While META has `left`, a call was stopped before its end.
local function clear_gone()
  for i = 2, #KEYS do
    if i < 12 or i > 13 then redis.call('DEL', KEYS[i]) end
  end
  local fields, stale = redis.call('HGETALL', KEYS[1]), {}
  for i = 1, #fields, 2 do
    if fields[i] ~= 'generation' then stale[#stale + 1] = fields[i] end
  end
  if #stale > 0 then redis.call('HDEL', KEYS[1], unpack(stale)) end
end
local gone, left = unpack(redis.call('HMGET', KEYS[1], 'generation', 'left'))
if left and gone == 'gone ' .. ARGV[6] then
  clear_gone()
  return 1
end
