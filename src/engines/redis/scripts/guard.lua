-- Wraps a script on a shard. If one of its calls fails, the work so far is still counted and written to heads and
-- agenda, as at a script's end; then the error is answered.
local ran, result = pcall(script)
if ran then return result end
if finish then pcall(finish) end
if type(result) == 'table' then result = result.err end
-- In Redis 7 this is the error's text, with its code in front. Before Redis 7, and for an error in Lua,
-- the text begins with the place of the error.
if string.find(result, '^%u+ ') then return redis.error_reply(result) end
error(result, 0)
