-- Entries that have been carried out leave the inbox; bad ones are set aside.
--
-- KEYS: the first three of inbox_read. ARGV: 1 the caller's name, 2 how many set-aside entries are kept, then two for
-- each entry: its id, and why it is set aside, or nothing. A late caller finds no entry, and the script does nothing.
-- Answers how many were set aside.
local IN, BAD, BY = KEYS[1], KEYS[2], KEYS[3]
local call = redis.call
local MOST_BYTES, MOST_TEXTS, CUT_TEXTS, CUT_BYTES = 65536, 1000, 100, 256

-- Adds the entry's fields to the record; of a long entry only the beginning.
local function kept(record, fields)
  local bytes = 0
  for i = 1, #fields do bytes = bytes + #fields[i] end
  local most, longest = #fields, bytes
  if bytes > MOST_BYTES or #fields > MOST_TEXTS then
    most, longest = math.min(#fields, CUT_TEXTS), CUT_BYTES
    record[#record + 1] = 'cut'
    record[#record + 1] = bytes .. ' bytes in ' .. #fields / 2 .. ' fields'
  end
  for i = 1, most do record[#record + 1] = string.sub(fields[i], 1, longest) end
  return record
end

call('XDEL', IN, '0-1')  -- a first write that is allowed while Redis is full
local set_aside = 0
for at = 3, #ARGV, 2 do
  local id, why = ARGV[at], ARGV[at + 1]
  local entry = why ~= '' and call('XRANGE', IN, id, id)[1]
  if entry then
    local record = kept({ 'entry', id, 'error', why }, entry[2])
    call('XADD', BAD, 'MAXLEN', ARGV[2], '*', unpack(record))
    set_aside = set_aside + 1
  end
  call('XDEL', IN, id)  -- last: stopped before, it is set aside twice rather than lost
end
if call('HGET', BY, 'who') == ARGV[1] then call('HDEL', BY, 'who', 'till') end
return set_aside
