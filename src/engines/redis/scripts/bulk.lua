-- Bulk claims. Most clients that claim many messages ack them together. So such a claim makes no entries in LEASED,
-- which saves two commands for each message, until a request asks for one of them alone (place.lua's `spread`).
-- META's `bulk` lists these claims: how many messages they hold in all, and then each claim and how many it took. A
-- bulk claim has at least BULK_LEAST messages. All bulk claims together have at most BULK_MOST, because one call
-- may have to spread them.
local BULK_LEAST, BULK_MOST = 32, 4096

local function bulk_total() return tonumber(string.match(bulk, '^%d+')) end

-- `with_claim` returns `bulk` with a claim of n messages added; `without_claim` returns it with that claim
-- taken out, or nil if `bulk` does not have the claim.
local function with_claim(claim, n)
  local total, behind = string.match(bulk, '^(%d+)()')
  return format('%.0f', total + n) .. sub(bulk, behind) .. ' ' .. claim .. ':' .. n .. ';'
end
local function without_claim(claim, n)
  local from, to = string.find(bulk, ' ' .. claim .. ':' .. n .. ';', 1, true)
  if not from then return nil end
  local total, behind = string.match(bulk, '^(%d+)()')
  return format('%.0f', total - n) .. sub(bulk, behind, from - 1) .. sub(bulk, to + 1)
end

-- Acked messages leave nothing behind.
local function forgets_at_once() return queue_remember == '0' end
