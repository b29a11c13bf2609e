-- The number of payload bytes in a body.
local function payload_of(body)
  local flags = flags_of(body)
  local at = 6
  if band(flags, HAS_ID) ~= 0 then at = at + 6 end
  if band(flags, HAS_PRIORITY) ~= 0 then at = at + 4 end
  if band(flags, HAS_MAX) ~= 0 then at = at + 2 end
  if band(flags, HAS_EXPIRY) ~= 0 then at = at + 12 end
  if band(flags, HAS_PUSHED) ~= 0 then at = at + 3 end
  if band(flags, HAS_HEADERS) ~= 0 then at = at + 2 + struct.unpack('<I2', body, at) end
  return math.max(#body - at + 1, 0)
end
