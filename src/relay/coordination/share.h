// The queues and shards that a relay serves. Plain values.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::relay {

/// A queue, or some of its shards.
struct Share {
  std::string queue;
  std::vector<std::uint32_t> shards;  // in rising order; empty: all

  friend bool operator==(const Share&, const Share&) = default;
};

/// One shard of a queue: the unit that is given to one of the relays.
struct Unit {
  std::string queue;
  std::uint32_t shard = 0;

  friend auto operator<=>(const Unit&, const Unit&) = default;
};

/// A unit as text, "orders/3", and back; reading returns false if the text is not a unit.
[[nodiscard]] std::string spell_unit(const Unit& unit);
[[nodiscard]] bool read_unit(std::string_view text, Unit& unit);

/// A queue that exists in the store.
struct Found {
  std::string queue;
  std::uint32_t shards = 1;

  friend bool operator==(const Found&, const Found&) = default;
};

/// All units of these queues, in rising order if `found` is sorted by name.
[[nodiscard]] std::vector<Unit> units_of(const std::vector<Found>& found);
[[nodiscard]] std::vector<Share> whole(const std::vector<Found>& found);
/// The queues and shards of `found` that `mine` (in rising order) names. Units whose queue or shard
/// is not, or no longer, in `found` are left out.
[[nodiscard]] std::vector<Share> shares_of(const std::vector<Found>& found,
                                           const std::vector<Unit>& mine);

}  // namespace tarry::relay
