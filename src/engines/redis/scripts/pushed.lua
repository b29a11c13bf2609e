-- What is left of a push whose bodies and due times were written by plain commands before this, in
-- the same MULTI: new messages, made keys, default priority. A script would copy each body three times.
--
-- ARGV: 5 how many, 6 the soonest due time, 7 the length of the longest body. Answers as push.
if tonumber(ARGV[7]) > tonumber(largest or 0) then call('HSET', META, 'largest', ARGV[7]) end
count('accepted', tonumber(ARGV[5]))
wake(tonumber(ARGV[6]))
return finish({ now, later })
