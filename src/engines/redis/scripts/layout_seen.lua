-- The forms in which a Redisson queue is written. Answers the form of the last entry ('old' or 'new'; empty:
-- there is none), the last value (nothing: there is none), and the remembered forms.
local id, value, old = unpack_entry(call('LINDEX', LIST, -1) or '')
if not id then value = call('LINDEX', DEST, -1) end
return { id and (old and 'old' or 'new') or '', value or false, call('GET', LEASES .. 'seen') or '' }
