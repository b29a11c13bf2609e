#include <gtest/gtest.h>
#include <tarry/result.h>

namespace tarry {
namespace {

TEST(ResultDeathTest, WhoTakesAnErrorForAValueIsToldWhichItWas) {
  const Result<int> full = Unexpected(ErrorCode::no_space, "the disk is full");
  EXPECT_DEATH((void)*full, "no_space.*the disk is full");
  EXPECT_DEATH((void)full.value(), "no_space.*the disk is full");
}

}  // namespace
}  // namespace tarry
