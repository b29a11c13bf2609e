-- A setting by its name. META has their values in the order of the names: durations in milliseconds, if_exists as a
-- letter (r, k, p, e, l). They are parsed when a script asks for the first one. A setting that a later version
-- added is 0 if it was never written.
local parsed
local function setting(name)
  if not parsed then
    parsed = {}
    local names = { 'lease', 'max_attempts', 'backoff_min', 'backoff_max', 'remember', 'dead_keep', 'if_exists',
      'objective', 'expire', 'on_expiry' }
    local at = 0
    for word in string.gmatch(settings, '%w+') do
      at = at + 1
      parsed[names[at] or at] = word
    end
  end
  return name == 'if_exists' and parsed[name] or tonumber(parsed[name] or 0)
end
