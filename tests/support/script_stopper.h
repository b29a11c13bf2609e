// For tests: Lua that stops a script of ours in the middle.
//
// Thread safety: a constant.
#pragma once

#include <string_view>

namespace tarry::testing {

/// Stands before each script. What is to be stopped is in the HASH `stop`: the script's name, and
/// at which of its calls, counted over all its runs. That call fails, and so does each one after it
/// on the same key in that run, as they do when the key is on another node; but META's, which each
/// script has read before. HASH `ran` tells how often each script ran, and `removed` which of them
/// came back to a key that it had removed itself: while a slot moves away, that is what fails.
inline constexpr std::string_view kScriptStopper = R"lua(
local theirs, redis = redis, redis
theirs.call('HINCRBY', 'ran', SCRIPT, 1)
local was = {}
local function look(key)
  if not string.find(key or '', '^tarry:') then return end
  local is = theirs.call('EXISTS', key)
  if was[key] == 1 and is == 0 then theirs.call('HSET', 'removed', SCRIPT, key) end
  was[key] = was[key] or is
end
if theirs.call('HGET', 'stop', 'script') ~= SCRIPT then
  redis = setmetatable({
    call = function(name, key, ...)
      look(key)
      return theirs.call(name, key, ...)
    end,
  }, { __index = theirs })
else
  local at, gone = tonumber(theirs.call('HGET', 'stop', 'at')), nil
  local function stops(key)
    if not gone then
      if theirs.call('HINCRBY', 'stop', 'calls', 1) ~= at then return false end
      theirs.call('HSET', 'stop', 'script', '', 'stopped', 1)
      gone = string.find(key or ':meta', ':meta$') and true or key
      return true
    end
    return key == gone
  end
  local why = { err = 'ERR Script attempted to access a non local key in a cluster node' }
  redis = setmetatable({
    call = function(name, key, ...)
      if stops(key) then error(why, 0) end
      return theirs.call(name, key, ...)
    end,
  }, { __index = theirs })
end
)lua";

}  // namespace tarry::testing
