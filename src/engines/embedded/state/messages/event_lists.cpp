#include "engines/embedded/state/messages/event_lists.h"

#include "base/assert.h"
#include "engines/embedded/records/record_layout.h"

namespace tarry::embedded {

void EventList::add(const EventEntry& event) {
  append_event(bytes_, event);
  ++count_;
}

void EventList::restore(std::string_view events, std::uint8_t count) {
  bytes_ = events;
  count_ = count;
  note_written();
}

void EventList::cut(std::uint32_t most) {
  std::string_view rest = bytes_;
  for (; count_ > most; --count_) {
    const bool taken = take_event(rest).has_value();
    TARRY_ASSERT(taken);
  }
  if (rest.size() != bytes_.size()) bytes_.erase(0, bytes_.size() - rest.size());
}

// A message that was never claimed has no past in its full record, except its events.
std::uint64_t EventList::whole() const noexcept {
  return count_ == 0 ? 0 : record_layout::kCarriedFixed + bytes_.size();
}

std::uint64_t EventList::unwritten() const noexcept {
  const std::uint64_t now = whole();
  return now > written_ ? now - written_ : 0;
}

}  // namespace tarry::embedded
