#include "core/engine_parts/partly_done.h"

#include <gtest/gtest.h>

namespace tarry::core {
namespace {

TEST(PartlyDone, NamesWhatIsDoneAndWhyTheRestIsNot) {
  const Error error =
      partly_done("purge", "orders", messages_so_far(299), {ErrorCode::unavailable, "no answer"});
  EXPECT_EQ(error.code, ErrorCode::unknown_outcome);
  EXPECT_EQ(error.message,
            "purge of queue orders is done in part (299 messages), and the same request again does "
            "the rest: no answer");
  EXPECT_EQ(messages_so_far(1), "1 message");
  EXPECT_EQ(shards_so_far(2, 3), "on 2 of its 3 shards");
}

TEST(PartlyDone, AnUnknownOutcomeIsKeptBeforeAllElse) {
  Error kept{ErrorCode::unavailable, "refused"};
  keep_less_certain(kept, {ErrorCode::no_space, "full"});
  EXPECT_EQ(kept.message, "refused");
  keep_less_certain(kept, {ErrorCode::unknown_outcome, "lost"});
  keep_less_certain(kept, {ErrorCode::unknown_outcome, "lost again"});
  EXPECT_EQ(kept.message, "lost");
}

}  // namespace
}  // namespace tarry::core
