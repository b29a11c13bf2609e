-- Settings, pause and resume. ARGV: 5 'set' and then one value for each setting (empty: unchanged), or
-- 'pause' and until when (empty: until resumed), or 'resume'. Answers the settings; to a pause '1', or
-- '0' if `until` has passed.

-- A new bucket is full. Only the one of the first shard is used; no shard knows which one it is. During a reshard the
-- bucket may be in a closed shard: then this one makes none.
local function change_rate(rate)
  if rate == '0' then return call('HDEL', META, 'bucket') end
  local bucket = call('HGET', META, 'bucket')
  if has_rate and not bucket then return end
  local level, filled = full_bucket(rate)
  if has_rate then level, filled = read_bucket(bucket, rate) end
  call('HSET', META, 'bucket', bucket_text(level, filled, rate))
end

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
  if values[12] ~= queue_rate then change_rate(values[12]) end
  if values[11] ~= queue_leases or values[12] ~= queue_rate then
    redis.pcall(PUBLISH, ARGV[4], ARGV[3])  -- claims may have room now
  end
elseif ARGV[5] == 'pause' then
  call('HSET', META, 'paused', ARGV[6])
  redis.pcall(PUBLISH, ARGV[4], ARGV[3])
  return (ARGV[6] == '' or tonumber(ARGV[6]) > now) and '1' or '0'
else
  call('HDEL', META, 'paused')
  redis.pcall(PUBLISH, ARGV[4], ARGV[3])
end
return settings
