-- Removes the rest of a message that the mover has taken out of a closed shard. The note is deleted before the body.
-- So if a body is in no set but has a note, a call was stopped: a message that ended here has no body.
local function forget_left(member)
  call('HDEL', CLAIMS, 'h' .. member)
  call('HDEL', MSGS, member)
  call('HDEL', PAST, member)
end

-- True if the member has a note and the message has left; then removes its rest. On an open shard
-- the `h` fields are copies, not notes, and nothing has left.
local function has_left(member)
  local is_note = string.find(call('HGET', CLAIMS, 'h' .. member) or '', '^[1-4]%x+$')
  if not is_note or locate(member) or call('HEXISTS', MSGS, member) == 0 then return false end
  forget_left(member)
  return true
end
