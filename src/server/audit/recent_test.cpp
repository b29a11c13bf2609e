#include "server/audit/recent.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tarry::audit {
namespace {

struct Seen {
  std::vector<std::string> lines;
  std::uint64_t next = 0;
};

Seen look(const Recent& recent, std::uint64_t before, std::size_t most) {
  Seen seen;
  seen.next =
      recent.visit(before, most, [&](std::string_view line) { seen.lines.emplace_back(line); });
  return seen;
}

TEST(AuditRecent, is_read_in_pages_from_the_latest_line) {
  Recent recent;
  EXPECT_TRUE(look(recent, 0, 10).lines.empty());
  recent.add("a\nb\n", 2);
  recent.add("c\n", 1);
  const Seen first = look(recent, 0, 2);
  EXPECT_EQ(first.lines, (std::vector<std::string>{"c", "b"}));
  ASSERT_NE(first.next, 0u);
  recent.add("d\n", 1);
  const Seen second = look(recent, first.next, 2);
  EXPECT_EQ(second.lines, (std::vector<std::string>{"a"}));
  EXPECT_EQ(second.next, 0u);
  EXPECT_EQ(look(recent, 0, 4).next, 0u);
}

TEST(AuditRecent, keeps_the_latest_lines_only) {
  Recent recent;
  std::string batch;
  for (std::size_t i = 0; i < Recent::kMostLines + 5; ++i) batch += std::to_string(i) + "\n";
  recent.add(batch, Recent::kMostLines + 5);
  const Seen seen = look(recent, 0, 2 * Recent::kMostLines);
  ASSERT_EQ(seen.lines.size(), Recent::kMostLines);
  EXPECT_EQ(seen.lines.front(), std::to_string(Recent::kMostLines + 4));
  EXPECT_EQ(seen.lines.back(), "5");
}

TEST(AuditRecent, keeps_so_many_bytes_only) {
  Recent recent;
  const std::string line = std::string(Recent::kMostBytes / 4, 'x') + "\n";
  for (int i = 0; i < 9; ++i) recent.add(line, 1);
  EXPECT_EQ(look(recent, 0, 100).lines.size(), 4u);
}

}  // namespace
}  // namespace tarry::audit
