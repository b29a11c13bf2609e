#include "engines/embedded/shard/context/shard_context.h"

#include <algorithm>

#include "core/limits.h"
#include "engines/embedded/records/record_bounds.h"

namespace tarry::embedded {

std::optional<Error> ShardContext::take_room(std::uint64_t bytes, std::uint64_t largest,
                                             Purpose purpose, Events events,
                                             std::uint64_t accepted) {
  records.note_events(true);
  if (!state.keeps_history()) return room.take(bytes, largest, purpose, accepted);
  const std::uint64_t more = events.count * kEventRoom + 3 * events.text;
  const std::uint64_t longer =
      record_layout::kNotedFixed + std::min<std::uint64_t>(events.text, core::kMaxEventText);
  auto error =
      room.take(bytes + more, largest + longer, std::min(purpose, Purpose::work), accepted);
  if (!error || purpose == Purpose::accept) return error;
  mark("history.left-out");
  records.note_events(false);
  return room.take(bytes, largest, purpose, accepted);
}

}  // namespace tarry::embedded
