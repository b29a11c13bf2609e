#include "engines/embedded/records/event_entry.h"

#include <algorithm>

#include "base/assert.h"
#include "base/bytes.h"
#include "core/limits.h"

namespace tarry::embedded {
namespace {

// As ShardState::replay requires of all times.
bool is_sane(std::int64_t ms) noexcept {
  constexpr std::int64_t kLimit = std::int64_t{1} << 50;
  return ms > -kLimit && ms < kLimit;
}

bool continues_character(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0u) == 0x80u;
}

}  // namespace

std::string_view event_text(std::string_view text) noexcept {
  if (text.size() <= core::kMaxEventText) return text;
  std::size_t end = core::kMaxEventText;
  while (end > core::kMaxEventText - 4 && continues_character(text[end])) --end;
  return text.substr(0, end);
}

void append_event(std::string& out, const EventEntry& event) {
  TARRY_ASSERT(event.text.size() <= core::kMaxEventText);
  base::ByteWriter to(out);
  to.u8(static_cast<std::uint8_t>(event.kind));
  to.u8(static_cast<std::uint8_t>(event.text.size()));
  to.u16(static_cast<std::uint16_t>(std::min<std::uint32_t>(event.attempt, core::kMaxAttempts)));
  to.i64(event.at_ms);
  if (sets_due(event.kind)) to.i64(event.due_ms);
  to.bytes(event.text);
}

std::optional<EventEntry> take_event(std::string_view& in) noexcept {
  base::ByteReader from(in);
  std::uint8_t kind = 0;
  std::uint8_t text = 0;
  std::uint16_t attempt = 0;
  EventEntry event;
  if (!from.u8(kind) || kind >= kEventKinds || !from.u8(text) || text > core::kMaxEventText ||
      !from.u16(attempt) || !from.i64(event.at_ms) || !is_sane(event.at_ms)) {
    return std::nullopt;
  }
  event.kind = static_cast<EventKind>(kind);
  event.attempt = attempt;
  if (sets_due(event.kind) && (!from.i64(event.due_ms) || !is_sane(event.due_ms))) {
    return std::nullopt;
  }
  if (!from.bytes(text, event.text)) return std::nullopt;
  in.remove_prefix(in.size() - from.remaining());
  return event;
}

}  // namespace tarry::embedded
