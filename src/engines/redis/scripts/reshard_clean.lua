-- Removes a slice of the bodies that are in none of the sets. Other programs wrote them, or removed their entries.
-- They belong to no message, and a closed shard gets no new ones. ARGV: 5 the turn, 6 where the slice begins.
-- Answers where the next slice begins ('0': that was all).
local function is_nobodys(member)
  for _, key in ipairs(PLACES) do
    if call('ZSCORE', key, member) then return false end
  end
  return call('HEXISTS', LEASED, member) == 0
end

spread_all()
local SLICE_BYTES = 4 * 1024 * 1024
local slice = math.max(1, math.min(500, floor(SLICE_BYTES / math.max(1, tonumber(largest or 0)))))
local found = call('HSCAN', MSGS, ARGV[6], 'COUNT', slice)
for i = 1, #found[2], 2 do
  local member = found[2][i]
  if member ~= '' and is_nobodys(member) then forget_left(member) end
end
return finish(found[1])
