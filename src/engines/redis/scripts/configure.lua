-- Settings, pause and resume. ARGV: 5 'set' and then one value for each setting (empty: unchanged), or
-- 'pause' and until when (empty: until resumed), or 'resume'. Answers the settings; to a pause '1', or
-- '0' if `until` has passed.
if ARGV[5] == 'set' then
  local values = {}
  for word in string.gmatch(settings, '%w+') do values[#values + 1] = word end
  for i = 1, #ARGV - 5 do
    values[i] = ARGV[5 + i] ~= '' and ARGV[5 + i] or values[i] or '0'
  end
  settings = table.concat(values, ' ')
  local least, most = setting('backoff_min'), setting('backoff_max')
  if least > most then return redis.error_reply(format('BACKOFF %.0f %.0f', least, most)) end
  call('HSET', META, 'settings', settings)
  if values[11] ~= queue_leases then redis.pcall(PUBLISH, ARGV[4], ARGV[3]) end  -- claims may have room now
elseif ARGV[5] == 'pause' then
  call('HSET', META, 'paused', ARGV[6])
  redis.pcall(PUBLISH, ARGV[4], ARGV[3])
  return (ARGV[6] == '' or tonumber(ARGV[6]) > now) and '1' or '0'
else
  call('HDEL', META, 'paused')
  redis.pcall(PUBLISH, ARGV[4], ARGV[3])
end
return settings
