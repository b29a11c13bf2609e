-- Around a script on a shard. Where a call of it fails in its midst, what was done until then is counted, and told to
-- heads and agenda, as at a script's end; and then the error is answered all the same.
local ran, result = pcall(script)
if ran then return result end
if finish then pcall(finish) end
if type(result) == 'table' then result = result.err end
-- Redis 7 gives the text of an error here, its code in front; before, and of an error in Lua, it says where.
if string.find(result, '^%u+ ') then return redis.error_reply(result) end
error(result, 0)
