#include "contract.h"

#include "command_line.h"
#include "rabbitmq_part.h"

namespace tarry::contract {

void expect_conserved(const QueueStats& stats) {
  const QueueCounters& counters = stats.counters;
  const std::uint64_t there = stats.scheduled + stats.ready + stats.leased + stats.dead;
  const std::uint64_t gone = counters.acked + counters.cancelled + counters.replaced +
                             counters.expired + counters.purged + counters.moved_away;
  EXPECT_EQ(counters.accepted, there + gone)
      << "queue " << stats.queue << ": accepted is not the sum of scheduled " << stats.scheduled
      << ", ready " << stats.ready << ", leased " << stats.leased << ", dead " << stats.dead
      << ", acked " << counters.acked << ", cancelled " << counters.cancelled << ", replaced "
      << counters.replaced << ", expired " << counters.expired << ", purged " << counters.purged
      << ", moved away " << counters.moved_away;
}

void expect_conserved(Store& store) {
  for (const QueueStats& stats : must(store.stats()).queues) expect_conserved(stats);
}

void expect_same(const std::optional<MessageInfo>& before,
                 const std::optional<MessageInfo>& after) {
  ASSERT_EQ(before.has_value(), after.has_value());
  if (!before) return;
  EXPECT_EQ(before->id, after->id);
  EXPECT_EQ(before->queue, after->queue);
  EXPECT_EQ(before->key, after->key);
  EXPECT_EQ(before->state, after->state);
  EXPECT_EQ(before->stopping, after->stopping);
  EXPECT_EQ(ms(before->due), ms(after->due));
  EXPECT_EQ(before->pushed, after->pushed);
  EXPECT_EQ(before->priority, after->priority);
  EXPECT_EQ(before->attempt, after->attempt);
  EXPECT_EQ(before->tallies, after->tallies);
  EXPECT_EQ(before->lease_left, after->lease_left);
  EXPECT_EQ(before->settlement, after->settlement);
  EXPECT_EQ(before->kept_until, after->kept_until);
  EXPECT_EQ(before->reason, after->reason);
  EXPECT_EQ(before->headers, after->headers);
  EXPECT_EQ(before->payload, after->payload);
}

void expect_names(const Error& error, std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    EXPECT_NE(error.message.find(part), std::string::npos)
        << '"' << error.message << "\" does not name " << part;
  }
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
  EXPECT_FALSE(error.message.empty());
}

void OnRig::SetUp() {
  if (!is_by(By::command_line) && !is(Kind::rabbitmq)) return;
  const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
  const std::string suite(test.test_suite_name());  // "On/Suite"
  const std::string name(test.name());              // "Test/engine"
  const std::string suite_name = suite.substr(suite.find('/') + 1);
  const std::string test_name = name.substr(0, name.find('/'));
  const std::string why = is(Kind::rabbitmq) ? not_for_rabbitmq(suite_name, test_name)
                                             : not_for_command_line(suite_name, test_name);
  if (!why.empty()) GTEST_SKIP() << why;
}

void OnRig::TearDown() {
  if (!rig_ || HasFatalFailure() || IsSkipped()) return;
  if (rig_->engine().capabilities().counts) expect_conserved(store());
}

ManualClock& OnRig::clock() {
  if (is(Kind::rabbitmq)) skip_test("a broker's clock cannot be moved");
  return rig_->clock();
}

std::int64_t OnRig::now_ms() const {
  if (is(Kind::rabbitmq)) skip_test("a broker's clock does not stand still");
  return rig_->now_ms();
}

}  // namespace tarry::contract
