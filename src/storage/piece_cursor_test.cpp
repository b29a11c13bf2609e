#include "storage/piece_cursor.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace tarry::storage {
namespace {

TEST(PieceCursor, NothingToWriteIsDone) {
  EXPECT_TRUE(PieceCursor({}).done());
  const std::vector<std::string_view> empties(3);
  EXPECT_TRUE(PieceCursor(empties).done());
}

// The system takes as few bytes per call as it likes, down to one, and still gets every byte once.
RC_GTEST_PROP(PieceCursor, EveryByteIsWrittenOnceHoweverShortTheWrites,
              (const std::vector<std::string>& texts)) {
  const std::vector<std::string_view> pieces(texts.begin(), texts.end());
  std::string expected;
  for (const std::string& text : texts) expected += text;

  const auto width = *rc::gen::inRange<std::size_t>(1, 5);
  std::vector<iovec> vectors(width);
  std::string taken;
  PieceCursor cursor(pieces);
  while (!cursor.done()) {
    const std::size_t count = cursor.fill(vectors);
    RC_ASSERT(count > 0U);
    std::string offered;
    for (std::size_t i = 0; i < count; ++i) {
      RC_ASSERT(vectors[i].iov_len > 0U);
      offered.append(static_cast<const char*>(vectors[i].iov_base), vectors[i].iov_len);
    }
    const auto accepted = *rc::gen::inRange<std::size_t>(1, offered.size() + 1);
    taken += offered.substr(0, accepted);
    cursor.advance(accepted);
  }
  RC_ASSERT(taken == expected);
}

}  // namespace
}  // namespace tarry::storage
