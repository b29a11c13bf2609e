-- Settings, in this order: lease, max_attempts, backoff_min, backoff_max, remember, dead_keep,
-- if_exists (r, k, p, e, l). Looked at where one is wanted. What a later version added is 0 where it was never
-- written.
local parsed
local function setting(index)
  if not parsed then
    parsed = {}
    for word in string.gmatch(settings, '%w+') do parsed[#parsed + 1] = word end
  end
  return index == 7 and parsed[7] or tonumber(parsed[index] or 0)
end
