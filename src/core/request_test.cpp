#include "core/request.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace tarry::core {
namespace {

TEST(Append, AnswersWhereThePieceIs) {
  std::string bytes;
  const Slice first = append(bytes, "first");
  const Slice empty = append(bytes, "");
  const Slice second = append(bytes, "second");
  EXPECT_EQ(view(bytes, first), "first");
  EXPECT_EQ(view(bytes, empty), "");
  EXPECT_EQ(view(bytes, second), "second");
}

// A Slice has 32 bits, so it would silently refer to other bytes.
TEST(AppendDeathTest, AbortsBeyondWhatASliceCanName) {
  std::string bytes = "x";
  // Nobody reads these bytes, so they need not exist. The size is volatile so that the compiler
  // does not notice.
  const volatile std::size_t size = std::size_t{1} << 32;
  const std::string_view four_gib(bytes.data(), size);
  EXPECT_DEATH((void)append(bytes, four_gib), "kReach");
  EXPECT_DEATH((void)append(bytes, four_gib.substr(1)), "kReach");
}

}  // namespace
}  // namespace tarry::core
