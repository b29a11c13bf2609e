// A queue's record in the store: its number, its shards, and, during a reshard, both sets.
//
//   NUMBER SHARDS GENERATION [FIRST]
//   NUMBER old set moving new set TURN         a set: SHARDS GENERATION FIRST
//   NUMBER new set retiring old set TURN
//   NUMBER set removing TURN
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engines/redis/records/place.h"

namespace tarry::redis {

struct QueueRecord {
  enum class Stage : std::uint8_t { settled, moving, retiring, removing };

  std::uint32_t number = 0;
  ShardSet set;
  Stage stage = Stage::settled;
  ShardSet other;          // the other set, while moving and retiring
  std::uint64_t turn = 0;  // shards refuse scripts of an earlier turn
};

/// Nothing for text that is not a record.
[[nodiscard]] std::optional<QueueRecord> read_record(std::string_view text);
/// The record's set that takes new keys.
[[nodiscard]] const ShardSet& open_set(const QueueRecord& record) noexcept;
/// Spells the record without the turn, which the store appends.
[[nodiscard]] std::string spell_record(const QueueRecord& record);

/// The set that follows `set`: a later generation, and numbers that are not among the old ones.
[[nodiscard]] ShardSet next_set(const ShardSet& set, std::uint32_t shards);
/// How many sets the queue had before that generation.
[[nodiscard]] std::uint64_t number_of_generation(std::string_view generation) noexcept;

/// The words between spaces.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

}  // namespace tarry::redis
