-- A claim's due times as runs: a score, how many messages in a row have it, the next score, ... Redis
-- takes long to print a score, and most claims hold few different ones.
local function runs_of(scores)
  local runs, last = {}, 0
  for i = 1, #scores do
    if scores[i] == runs[last - 1] then
      runs[last] = runs[last] + 1
    else
      runs[last + 1], runs[last + 2] = scores[i], 1
      last = last + 2
    end
  end
  return runs
end

-- The places and tallies of the messages that have a past (half a ms more in the score).
local function pasts_of(members, runs)
  local places, old, at = {}, {}, 0
  for r = 1, #runs, 2 do
    local behind = at + runs[r + 1]
    if byte(runs[r], -2) == 46 then
      for i = at + 1, behind do
        places[#places + 1], old[#old + 1] = i, members[i]
      end
    end
    at = behind
  end
  if #places == 0 then return false end
  return { places, call('HMGET', PAST, unpack(old)) }
end
