#include "engines/embedded/state/messages/reasons.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <map>

namespace tarry::embedded {
namespace {

TEST(Reasons, TheEmptyReasonIsNumberZero) {
  Reasons reasons;
  EXPECT_EQ(reasons.acquire(""), 0u);
  EXPECT_EQ(reasons.text(0), "");
  reasons.release(0);
  EXPECT_EQ(reasons.text(0), "");
}

TEST(Reasons, ATextIsKeptOnceAndUntilItsLastUse) {
  Reasons reasons;
  const std::uint32_t number = reasons.acquire("bad address");
  EXPECT_EQ(reasons.acquire("bad address"), number);
  EXPECT_NE(reasons.acquire("no such user"), number);
  reasons.release(number);
  EXPECT_EQ(reasons.text(number), "bad address");
  reasons.release(number);
  EXPECT_EQ(reasons.acquire("something else"), number) << "the number is used again";
  EXPECT_EQ(reasons.text(number), "something else");
}

RC_GTEST_PROP(Reasons, EveryHeldNumberKeepsItsText,
              (const std::vector<std::pair<std::uint8_t, bool>>& steps)) {
  Reasons reasons;
  std::multimap<std::uint32_t, std::string> held;
  for (const auto& [step, release] : steps) {
    if (release && !held.empty()) {
      reasons.release(held.begin()->first);
      held.erase(held.begin());
    } else {
      const std::string text(step % 7u, 'x');
      held.emplace(reasons.acquire(text), text);
    }
    for (const auto& [number, text] : held) RC_ASSERT(reasons.text(number) == text);
  }
}

}  // namespace
}  // namespace tarry::embedded
