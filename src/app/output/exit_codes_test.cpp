#include "app/output/exit_codes.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace tarry::app {
namespace {

TEST(ExitCodes, OfOutcomes) {
  for (const Outcome outcome :
       {Outcome::pushed, Outcome::kept, Outcome::replaced, Outcome::moved, Outcome::cancelled,
        Outcome::rescheduled, Outcome::revived, Outcome::done}) {
    EXPECT_EQ(exit_code(outcome), ExitCode::done) << to_string(outcome);
  }
  for (const Outcome outcome :
       {Outcome::exists, Outcome::in_flight, Outcome::settled, Outcome::stopping, Outcome::stale}) {
    EXPECT_EQ(exit_code(outcome), ExitCode::conflict) << to_string(outcome);
  }
  EXPECT_EQ(exit_code(Outcome::unknown), ExitCode::unknown);
}

TEST(ExitCodes, OfEveryError) {
  struct Row {
    ErrorCode error;
    ExitCode asked;   // the exit code after a verb
    ExitCode opened;  // the exit code after tarry::open
  };
  using enum ExitCode;
  const Row rows[] = {
      {ErrorCode::invalid_argument, usage, usage},
      {ErrorCode::too_large, usage, usage},
      {ErrorCode::misuse, usage, usage},
      {ErrorCode::not_found, unknown, unreachable},
      {ErrorCode::conflict, conflict, unreachable},
      {ErrorCode::unavailable, unreachable, unreachable},
      {ErrorCode::closed, unreachable, unreachable},
      {ErrorCode::permission_denied, failed, unreachable},
      {ErrorCode::unsupported, failed, failed},
      {ErrorCode::no_space, failed, failed},
      {ErrorCode::unknown_outcome, failed, failed},
      {ErrorCode::damaged, failed, failed},
      {ErrorCode::io_error, failed, failed},
  };
  std::set<ErrorCode> told;
  for (const Row& row : rows) {
    told.insert(row.error);
    EXPECT_EQ(exit_code(row.error), row.asked) << to_string(row.error);
    EXPECT_EQ(exit_code_of_open(row.error), row.opened) << to_string(row.error);
  }
  EXPECT_EQ(told.size(), 13u);
}

TEST(ExitCodes, TheWorstCounts) {
  const ExitCode order[] = {ExitCode::done,  ExitCode::unknown, ExitCode::conflict,
                            ExitCode::usage, ExitCode::failed,  ExitCode::unreachable};
  for (std::size_t i = 0; i < std::size(order); ++i) {
    for (std::size_t j = 0; j < std::size(order); ++j) {
      EXPECT_EQ(worst(order[i], order[j]), order[std::max(i, j)]);
    }
  }
}

TEST(ExitCodes, AreTheOnesThatAreDocumented) {
  EXPECT_EQ(static_cast<int>(ExitCode::done), 0);
  EXPECT_EQ(static_cast<int>(ExitCode::failed), 1);
  EXPECT_EQ(static_cast<int>(ExitCode::usage), 2);
  EXPECT_EQ(static_cast<int>(ExitCode::unknown), 3);
  EXPECT_EQ(static_cast<int>(ExitCode::conflict), 4);
  EXPECT_EQ(static_cast<int>(ExitCode::unreachable), 5);
}

}  // namespace
}  // namespace tarry::app
