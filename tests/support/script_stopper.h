// For tests: Lua code that stops one of our scripts in the middle.
//
// Thread safety: a constant.
#pragma once

#include <string_view>

namespace tarry::testing {

/// This code is put in front of each script. The HASH `stop` says which script is to be stopped,
/// and at which of its calls, counted over all its runs. That call fails, and so does each later
/// call on the same key in that run, as calls do when the key is on another node. Exception: META,
/// which each script has read before. The HASH `ran` counts the runs of each script. The HASH
/// `removed` names the scripts that used a key again after they had removed it, because such a use
/// fails while a slot moves away.
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
