-- What is left of a push whose bodies were written by a plain command before this, in the same MULTI: new
-- messages, made keys, default priority. A script would copy each body three times. Bodies that stand in no
-- set are nobody's: where this is refused nothing is to be seen of them.
--
-- ARGV: 5 how many, 6 the soonest due time, 7 the length of the longest body, then due time and member of
-- each. Answers as push.
call('ZADD', DUE, unpack(ARGV, 8))
if tonumber(ARGV[7]) > tonumber(largest or 0) then call('HSET', META, 'largest', ARGV[7]) end
count('accepted', tonumber(ARGV[5]))
wake(tonumber(ARGV[6]))
return finish({ now, later })
