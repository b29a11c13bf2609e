-- Removes a message that has left a closed shard with the mover: its note goes before its body. So a body that is in
-- no set and has a note is left from a stopped call: a message that ended here has no body.
local function forget_left(member)
  call('HDEL', CLAIMS, 'h' .. member)
  call('HDEL', MSGS, member)
  call('HDEL', PAST, member)
end

-- For a member with a note. On an open shard, whose notes are copies, nothing has left.
local function has_left(member)
  local is_note = string.find(call('HGET', CLAIMS, 'h' .. member) or '', '^[1-4]%x+$')
  if not is_note or locate(member) or call('HEXISTS', MSGS, member) == 0 then return false end
  forget_left(member)
  return true
end
