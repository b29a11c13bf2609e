#include "engines/embedded/records/event_entry.h"

#include <gtest/gtest.h>

#include "base/text/text.h"
#include "core/limits.h"

namespace tarry::embedded {
namespace {

std::string encoded(const EventEntry& event) {
  std::string bytes;
  append_event(bytes, event);
  return bytes;
}

TEST(EventEntry, IsReadAsItIsWritten) {
  std::string all;
  for (std::size_t kind = 0; kind < kEventKinds; ++kind) {
    const bool has_due = sets_due(static_cast<EventKind>(kind));
    append_event(all, {static_cast<EventKind>(kind), 65'535, 7, has_due ? 9 : 0, "why"});
  }
  std::string_view rest = all;
  for (std::size_t kind = 0; kind < kEventKinds; ++kind) {
    const auto event = take_event(rest);
    ASSERT_TRUE(event);
    const bool has_due = sets_due(event->kind);
    EXPECT_EQ(*event,
              (EventEntry{static_cast<EventKind>(kind), 65'535, 7, has_due ? 9 : 0, "why"}));
  }
  EXPECT_TRUE(rest.empty());
  EXPECT_FALSE(take_event(rest));
}

TEST(EventEntry, TakesNoMoreThanItsBound) {
  const std::string text(core::kMaxEventText, 'x');
  EXPECT_EQ(encoded({EventKind::retried, 1, 2, 3, text}).size(), kEventBytes + text.size());
  EXPECT_EQ(encoded({EventKind::acked, 1, 2, 3, {}}).size(), kEventFixed);
}

TEST(EventEntry, RefusesWhatIsNone) {
  const std::string good = encoded({EventKind::claimed, 1, 2, 0, "by"});
  for (std::size_t size = 0; size < good.size(); ++size) {
    std::string_view cut = std::string_view(good).substr(0, size);
    EXPECT_FALSE(take_event(cut)) << size;
  }
  for (const auto& [at, value] :
       {std::pair(0, kEventKinds), {1, core::kMaxEventText + 1}, {11, 127}}) {
    std::string bad = good + std::string(200, 'x');
    bad[static_cast<std::size_t>(at)] = static_cast<char>(value);
    std::string_view rest = bad;
    EXPECT_FALSE(take_event(rest)) << at;
  }
}

TEST(EventEntry, CutsATextAtACharacter) {
  EXPECT_EQ(event_text("short"), "short");
  EXPECT_EQ(event_text(std::string(300, 'x')).size(), core::kMaxEventText);
  for (std::size_t before = core::kMaxEventText - 4; before <= core::kMaxEventText; ++before) {
    const std::string text = std::string(before, 'x') + "\xF0\x9F\x98\x80\xF0\x9F\x98\x80";
    const std::string_view cut = event_text(text);
    EXPECT_LE(cut.size(), core::kMaxEventText);
    EXPECT_GE(cut.size(), core::kMaxEventText - 3);
    EXPECT_TRUE(base::is_valid_utf8(cut)) << before;
  }
}

}  // namespace
}  // namespace tarry::embedded
