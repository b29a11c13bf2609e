#include "server/audit/told.h"

#include <string>

#include <gtest/gtest.h>

#include "server/audit/lines.h"

namespace tarry::audit {
namespace {

std::string line_of(const Entry& entry, const Answer& answer = {200, {}, {}}) {
  std::string text;
  write_lines(entry, {"shop", "10.0.0.7:1", "http", "id"}, answer, Time(Millis(1'900'000'000'123)),
              [&](std::string_view lines, std::size_t) { text += lines; });
  text.pop_back();
  return text;
}

TEST(AuditTold, what_was_written_is_read_back) {
  Entry entry(Act::cancel, "\xff");
  entry.names.push_back(core::append(entry.bytes, "\xfe\"key"));
  const auto told = read_line(line_of(entry, {403, "permission_denied", "no"}));
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->time, Time(Millis(1'900'000'000'123)));
  EXPECT_EQ(told->act, "cancel");
  EXPECT_EQ(told->identity, "shop");
  EXPECT_EQ(told->peer, "10.0.0.7:1");
  EXPECT_EQ(told->queue, "\xff");
  EXPECT_EQ(told->key, "\xfe\"key");
  EXPECT_EQ(told->outcome, "refused");
  EXPECT_EQ(told->more, "permission_denied");
  EXPECT_TRUE(told->is_refused());
}

TEST(AuditTold, counts_are_put_into_words) {
  Entry entry(Act::cancel, "q");
  entry.page.emplace();
  entry.page->filter.prefix = "a";
  entry.counts.emplace();
  entry.counts->outcomes[static_cast<std::size_t>(Outcome::cancelled)] = 12;
  entry.counts->failed = 1;
  entry.replied = true;
  const auto told = read_line(line_of(entry));
  ASSERT_TRUE(told) << told.error().message;
  EXPECT_EQ(told->what, R"({"prefix":"a"})");
  EXPECT_EQ(told->outcome, "done");
  EXPECT_EQ(told->more, "cancelled 12, failed 1");
  EXPECT_FALSE(told->is_refused());
}

TEST(AuditTold, other_lines_are_refused) {
  const std::string line = line_of(Entry(Act::purge, "q"));
  for (std::size_t size = 0; size < line.size(); ++size) {
    EXPECT_FALSE(read_line(line.substr(0, size))) << size;
  }
  EXPECT_FALSE(read_line("[]"));
  EXPECT_FALSE(read_line("{}"));
  EXPECT_FALSE(read_line(R"({"act":"purge"})"));
  EXPECT_TRUE(read_line(R"({"time":"2030-01-01T00:00:00Z","act":"new","unknown":1})"));
}

}  // namespace
}  // namespace tarry::audit
