#include "base/text/nearest.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

namespace tarry::base {
namespace {

TEST(EditDistance, CountsSlipsOfTheFinger) {
  EXPECT_EQ(edit_distance("push", "push"), 0u);
  EXPECT_EQ(edit_distance("pusg", "push"), 1u);
  EXPECT_EQ(edit_distance("psuh", "push"), 1u);  // swapped
  EXPECT_EQ(edit_distance("pus", "push"), 1u);
  EXPECT_EQ(edit_distance("ppush", "push"), 1u);
  EXPECT_EQ(edit_distance("", "push"), 4u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

RC_GTEST_PROP(EditDistance, IsSymmetric, (const std::string& a, const std::string& b)) {
  RC_ASSERT(edit_distance(a, b) == edit_distance(b, a));
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string_view> flags{"--key", "--priority", "--if-exists", "--in"};
  EXPECT_EQ(nearest("--kye", flags), "--key");
  EXPECT_EQ(nearest("--prioritty", flags), "--priority");
  EXPECT_EQ(nearest("--if-exist", flags), "--if-exists");
}

TEST(Nearest, SaysNothingWhereNothingIsNear) {
  const std::vector<std::string_view> flags{"--key", "--priority"};
  EXPECT_EQ(nearest("--concurrency", flags), "");
  EXPECT_EQ(nearest("x", {"push"}), "");
  EXPECT_EQ(nearest(std::string(5000, 'k'), flags), "");
  EXPECT_EQ(nearest("--key", {}), "");
}

TEST(DidYouMean, EndsAMessage) {
  EXPECT_EQ(did_you_mean("psuh", {"push", "claim"}), "; did you mean \"push\"?");
  EXPECT_EQ(did_you_mean("forecast", {"push", "claim"}), "");
}

}  // namespace
}  // namespace tarry::base
