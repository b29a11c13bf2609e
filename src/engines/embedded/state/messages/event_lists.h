// EventLists: the histories of a queue's messages, for a queue with the setting `history`: the last
// events of each message, as bytes (event_entry.h). A message that has had no event since the
// setting was made has no list.
//
// Thread safety: none; the shard's thread owns it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "engines/embedded/records/event_entry.h"
#include "engines/embedded/records/handle.h"

namespace tarry::embedded {

class EventList {
 public:
  void add(const EventEntry& event);
  /// Takes over the events of a full record. The record's event_count says how many they are.
  void restore(std::string_view events, std::uint8_t count);
  /// Keeps the last `most` events.
  void cut(std::uint32_t most);

  [[nodiscard]] std::string_view bytes() const noexcept { return bytes_; }
  [[nodiscard]] std::uint8_t count() const noexcept { return count_; }
  /// By how much the message's next full record may be longer, because of its events, than the one
  /// that it has.
  [[nodiscard]] std::uint64_t unwritten() const noexcept;
  /// Call `note_written` when the message's full record holds the events.
  void note_written() noexcept { written_ = whole(); }

 private:
  [[nodiscard]] std::uint64_t whole() const noexcept;

  std::string bytes_;
  std::uint64_t written_ = 0;
  std::uint8_t count_ = 0;
};

using EventLists = std::unordered_map<Handle, EventList>;

}  // namespace tarry::embedded
