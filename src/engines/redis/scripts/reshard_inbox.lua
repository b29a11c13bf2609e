-- Tells whether an inbox has entries of a queue, up to a certain entry. Looks at a slice of the inbox. KEYS: 1 the
-- inbox. ARGV: 1 from where ('-', or '(' and an id), 2 the last id, 3 the queue. Answers '' if there is none, '1'
-- if there is one, or where to continue.
local from, looked = ARGV[1], 0
while looked < 500 do
  local found = redis.call('XRANGE', KEYS[1], from, ARGV[2], 'COUNT', 10)
  for i = 1, #found do
    local fields = found[i][2]
    for at = 1, #fields, 2 do
      if fields[at] == 'queue' and fields[at + 1] == ARGV[3] then return '1' end
    end
    from, looked = '(' .. found[i][1], looked + 1
  end
  if #found < 10 then return '' end
end
return from
