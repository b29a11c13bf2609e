#include "engines/embedded/threads/group_commit_delay.h"

#include <gtest/gtest.h>

namespace tarry::embedded {
namespace {

using namespace std::chrono_literals;

TEST(GroupCommitDelay, WaitsForWhomItAnswersAndForThoseWhoAreThere) {
  GroupCommitDelay commit_delay;
  EXPECT_EQ(commit_delay.wanted(), 0u) << "nobody was answered yet";
  commit_delay.synced(4, 3, 100us);
  EXPECT_EQ(commit_delay.wanted(), 7u);
  EXPECT_EQ(commit_delay.answered(20us), 100us);
  commit_delay.waited(true);
  EXPECT_EQ(commit_delay.wanted(), 0u) << "until the next job";
}

// The disk hung, or a clock was moved by hand. No caller may be kept waiting for that long.
TEST(GroupCommitDelay, NotAfterASyncThatTookTooLong) {
  GroupCommitDelay commit_delay;
  commit_delay.synced(4, 0, 20ms);
  EXPECT_EQ(commit_delay.wanted(), 4u);
  commit_delay.synced(4, 0, 21ms);
  EXPECT_EQ(commit_delay.wanted(), 0u);
  EXPECT_EQ(commit_delay.answered(0us), 0us);
}

TEST(GroupCommitDelay, NotAfterAJobThatNobodyWaitedFor) {
  GroupCommitDelay commit_delay;
  commit_delay.synced(0, 3, 100us);
  EXPECT_EQ(commit_delay.wanted(), 0u);
  EXPECT_EQ(commit_delay.answered(0us), 0us);
}

// Returns how many jobs are skipped until there is a wait again.
unsigned skipped(GroupCommitDelay& commit_delay) {
  unsigned jobs = 0;
  do {
    commit_delay.synced(1, 0, 100us);
    ++jobs;
  } while (commit_delay.wanted() == 0);
  return jobs - 1;
}

TEST(GroupCommitDelay, ThoseWhoDoNotComeBackAreWaitedForEverLess) {
  GroupCommitDelay commit_delay;
  EXPECT_EQ(skipped(commit_delay), 0u);
  for (const unsigned jobs : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 64u}) {
    EXPECT_EQ(commit_delay.answered(0us), 100us);
    commit_delay.waited(false);
    EXPECT_EQ(skipped(commit_delay), jobs);
  }
  commit_delay.waited(true);
  EXPECT_EQ(skipped(commit_delay), 0u) << "who came once may come again";
  commit_delay.waited(false);
  EXPECT_EQ(skipped(commit_delay), 1u);
}

// Otherwise the next sync would wait for answers that another thread could give.
TEST(GroupCommitDelay, AnswersThatTakeLongAreGivenByAnotherThread) {
  GroupCommitDelay commit_delay;
  commit_delay.synced(4, 0, 100us);
  EXPECT_EQ(commit_delay.answered(51us), 0us);
  EXPECT_EQ(commit_delay.wanted(), 0u);
  commit_delay.waited(false);  // no wait took place
  EXPECT_EQ(skipped(commit_delay), 1u);
}

}  // namespace
}  // namespace tarry::embedded
