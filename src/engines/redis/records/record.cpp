#include "engines/redis/records/record.h"

#include <algorithm>
#include <charconv>

#include "core/limits.h"

namespace tarry::redis {
namespace {

constexpr std::string_view kMoving = "moving";
constexpr std::string_view kRetiring = "retiring";
constexpr std::string_view kRemoving = "removing";
// Each set gets the numbers after those of the set before it, and begins at 0 again if these are
// free.
constexpr std::uint64_t kMostShardNumber = 3 * core::kMaxShards;

bool read_whole(std::string_view text, std::uint64_t least, std::uint64_t most,
                std::uint64_t& value) noexcept {
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end && value >= least && value <= most;
}

bool read_set(std::string_view shards, std::string_view generation, std::string_view first,
              ShardSet& set) {
  std::uint64_t count = 0;
  std::uint64_t from = 0;
  if (!read_whole(shards, 1, core::kMaxShards, count) ||
      !read_whole(first, 0, kMostShardNumber, from)) {
    return false;
  }
  set = {static_cast<std::uint32_t>(count), std::string(generation),
         static_cast<std::uint32_t>(from)};
  return true;
}

std::string spell_set(const ShardSet& set, bool with_first) {
  std::string text = " " + std::to_string(set.shards) + " " + set.generation;
  if (with_first) text += " " + std::to_string(set.first);
  return text;
}

}  // namespace

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> found;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    if (space > 0) found.push_back(text.substr(0, space));
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return found;
}

std::optional<QueueRecord> read_record(std::string_view text) {
  const auto words = words_of(text);
  if (words.size() != 3 && words.size() != 4 && words.size() != 6 && words.size() != 9) {
    return std::nullopt;
  }
  QueueRecord record;
  std::uint64_t number = 0;
  if (!read_whole(words[0], 1, UINT32_MAX, number) ||
      !read_set(words[1], words[2], words.size() > 3 ? words[3] : "0", record.set)) {
    return std::nullopt;
  }
  record.number = static_cast<std::uint32_t>(number);
  if (words.size() < 6) return record;
  if (words.size() == 6) {
    record.stage = QueueRecord::Stage::removing;
    const bool is_one = words[4] == kRemoving && read_whole(words[5], 1, INT64_MAX, record.turn);
    return is_one ? std::optional(record) : std::nullopt;
  }
  if (words[4] != kMoving && words[4] != kRetiring) return std::nullopt;
  record.stage = words[4] == kMoving ? QueueRecord::Stage::moving : QueueRecord::Stage::retiring;
  if (!read_set(words[5], words[6], words[7], record.other) ||
      !read_whole(words[8], 1, INT64_MAX, record.turn)) {
    return std::nullopt;
  }
  return record;
}

std::string spell_record(const QueueRecord& record) {
  const bool settled = record.stage == QueueRecord::Stage::settled;
  std::string text = std::to_string(record.number);
  text += spell_set(record.set, !settled || record.set.first > 0);
  if (settled) return text;
  text += " ";
  if (record.stage == QueueRecord::Stage::removing) return text.append(kRemoving);
  text += record.stage == QueueRecord::Stage::moving ? kMoving : kRetiring;
  return text + spell_set(record.other, true);
}

const ShardSet& open_set(const QueueRecord& record) noexcept {
  return record.stage == QueueRecord::Stage::moving ? record.other : record.set;
}

std::uint64_t number_of_generation(std::string_view generation) noexcept {
  const std::size_t dot = generation.find('.');
  std::uint64_t number = 0;
  if (dot != std::string_view::npos)
    (void)read_whole(generation.substr(dot + 1), 0, UINT64_MAX, number);
  return number;
}

ShardSet next_set(const ShardSet& set, std::uint32_t shards) {
  const std::string secret = set.generation.substr(0, set.generation.find('.'));
  return {shards, secret + "." + std::to_string(number_of_generation(set.generation) + 1),
          set.first >= shards ? 0 : set.first + set.shards};
}

}  // namespace tarry::redis
