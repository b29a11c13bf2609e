#include "engines/embedded/gathering.h"

#include <gtest/gtest.h>

namespace tarry::embedded {
namespace {

using namespace std::chrono_literals;

TEST(Gathering, WaitsForWhomItAnswersAndForThoseWhoAreThere) {
  Gathering gathering;
  EXPECT_EQ(gathering.wanted(), 0u) << "nobody was answered yet";
  gathering.synced(4, 3, 100us);
  EXPECT_EQ(gathering.wanted(), 7u);
  EXPECT_EQ(gathering.answered(20us), 100us);
  gathering.waited(true);
  EXPECT_EQ(gathering.wanted(), 0u) << "until the next job";
}

// A disk that hung, or a clock moved by hand: nobody may be kept for as long.
TEST(Gathering, NotAfterASyncThatTookTooLong) {
  Gathering gathering;
  gathering.synced(4, 0, 20ms);
  EXPECT_EQ(gathering.wanted(), 4u);
  gathering.synced(4, 0, 21ms);
  EXPECT_EQ(gathering.wanted(), 0u);
  EXPECT_EQ(gathering.answered(0us), 0us);
}

TEST(Gathering, NotAfterAJobThatNobodyWaitedFor) {
  Gathering gathering;
  gathering.synced(0, 3, 100us);
  EXPECT_EQ(gathering.wanted(), 0u);
  EXPECT_EQ(gathering.answered(0us), 0us);
}

// Jobs until it waits again.
unsigned skipped(Gathering& gathering) {
  unsigned jobs = 0;
  do {
    gathering.synced(1, 0, 100us);
    ++jobs;
  } while (gathering.wanted() == 0);
  return jobs - 1;
}

TEST(Gathering, ThoseWhoDoNotComeBackAreWaitedForEverLess) {
  Gathering gathering;
  EXPECT_EQ(skipped(gathering), 0u);
  for (const unsigned jobs : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 64u}) {
    EXPECT_EQ(gathering.answered(0us), 100us);
    gathering.waited(false);
    EXPECT_EQ(skipped(gathering), jobs);
  }
  gathering.waited(true);
  EXPECT_EQ(skipped(gathering), 0u) << "who came once may come again";
  gathering.waited(false);
  EXPECT_EQ(skipped(gathering), 1u);
}

// Or the next sync would wait for answers that another thread could give.
TEST(Gathering, AnswersThatTakeLongAreGivenByAnotherThread) {
  Gathering gathering;
  gathering.synced(4, 0, 100us);
  EXPECT_EQ(gathering.answered(51us), 0us);
  EXPECT_EQ(gathering.wanted(), 0u);
  gathering.waited(false);  // not told of a wait that there was none
  EXPECT_EQ(skipped(gathering), 1u);
}

}  // namespace
}  // namespace tarry::embedded
