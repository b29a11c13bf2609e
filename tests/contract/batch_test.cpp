// Batches: one answer per item, in order; a bad item fails alone; up to 10,000 items.
#include "contract.h"
#include "core/limits.h"

namespace tarry::contract {
namespace {

class Batches : public Contract {};
TARRY_ON_ALL_ENGINES(Batches);

std::vector<std::string> numbered(std::size_t count) {
  std::vector<std::string> keys;
  for (std::size_t i = 0; i < count; ++i) keys.push_back("k" + std::to_string(i));
  return keys;
}

std::vector<std::string_view> views(const std::vector<std::string>& keys) {
  return {keys.begin(), keys.end()};
}

TEST_P(Batches, PushAnswersItemByItemInOrder) {
  const Queue q = queue();
  (void)must(q.push({.key = "b", .payload = "x", .due = in(1h)}));
  const std::vector<Push> messages = {{.key = "a", .payload = "1"},
                                      {.key = "b", .payload = "2"},
                                      {.key = "c", .payload = "3"},
                                      {.payload = "4"},
                                      {.key = "b", .payload = "5", .if_exists = IfExists::replace}};
  const std::vector<Result<Pushed>> answers = must(q.push(messages));
  ASSERT_EQ(answers.size(), 5u);
  EXPECT_EQ(must(answers[0]).outcome, Outcome::pushed);
  EXPECT_EQ(must(answers[0]).key, "a");
  EXPECT_EQ(must(answers[1]).outcome, Outcome::exists);
  EXPECT_EQ(must(answers[1]).key, "b");
  EXPECT_EQ(must(answers[2]).outcome, Outcome::pushed);
  EXPECT_EQ(must(answers[2]).key, "c");
  EXPECT_EQ(must(answers[3]).outcome, Outcome::pushed);
  EXPECT_FALSE(must(answers[3]).key.empty());
  EXPECT_EQ(must(answers[4]).outcome, Outcome::replaced);
}

TEST_P(Batches, OneBadItemOfAPushFailsAlone) {
  const Queue q = queue();
  const std::string long_key(core::kMaxKey + 1, 'k');
  const std::string big(core::kDefaultMaxPayload + 1, 'p');
  const std::vector<Push> messages = {
      {.key = "a", .payload = "1"},
      {.key = long_key, .payload = "2"},
      {.key = "c", .payload = big},
      {.key = "d", .payload = "4", .due = in(-1ms)},
      {.key = "e", .payload = "5", .headers = {{"bad name", "v"}}},
      {.key = "f", .payload = "6", .max_attempts = core::kMaxAttempts + 1},
      {.key = "g", .payload = "7"}};
  const std::vector<Result<Pushed>> answers = must(q.push(messages));
  ASSERT_EQ(answers.size(), 7u);
  EXPECT_EQ(must(answers[0]).key, "a");
  EXPECT_EQ(answers[1].error().code, ErrorCode::too_large);
  EXPECT_EQ(answers[2].error().code, ErrorCode::too_large);
  EXPECT_EQ(answers[3].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(answers[4].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(answers[5].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(must(answers[6]).key, "g");
  EXPECT_EQ(key_set(claim_all(q)), (std::multiset<std::string>{"a", "g"}));
  EXPECT_EQ(must(q.stats()).counters.accepted, 2u);
}

TEST_P(Batches, TheSameKeyTwiceIsDecidedInOrder) {
  const Queue q = queue();
  const std::vector<Push> messages = {
      {.key = "k", .payload = "1"},
      {.key = "k", .payload = "2"},
      {.key = "k", .payload = "3", .if_exists = IfExists::replace},
      {.key = "k", .payload = "4", .due = in(1h), .if_exists = IfExists::later}};
  const std::vector<Result<Pushed>> answers = must(q.push(messages));
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(must(answers[0]).outcome, Outcome::pushed);
  EXPECT_EQ(must(answers[1]).outcome, Outcome::exists);
  EXPECT_EQ(must(answers[1]).id, must(answers[0]).id);
  EXPECT_EQ(must(answers[2]).outcome, Outcome::replaced);
  EXPECT_NE(must(answers[2]).id, must(answers[0]).id);
  EXPECT_EQ(must(answers[3]).outcome, Outcome::moved);
  EXPECT_EQ(must(answers[3]).id, must(answers[2]).id);
  clock().advance(1h);
  EXPECT_EQ(claim_one(q).payload(), "3");
}

TEST_P(Batches, TheSameKeyTwiceInACancel) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "1", .due = in(1h)}));
  const std::string_view keys[] = {"k", "k", "no"};
  const std::vector<Result<Answer>> answers = must(q.cancel(keys));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(must(answers[0]), Outcome::cancelled);
  EXPECT_EQ(must(answers[1]), Outcome::unknown);
  EXPECT_EQ(must(answers[2]), Outcome::unknown);
}

TEST_P(Batches, TheSameReceiptTwiceInASettle) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "1"}));
  const Delivery delivery = claim_one(q);
  const Settle items[] = {{.receipt = delivery.receipt(), .action = Action::release, .reason = {}},
                          {.receipt = delivery.receipt(), .action = Action::ack, .reason = {}}};
  const std::vector<Result<Answer>> answers = must(q.settle(items));
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(must(answers[0]), Outcome::done);
  EXPECT_EQ(must(answers[1]), Outcome::stale);
  EXPECT_EQ(claim_one(q).attempt(), 1u);
}

TEST_P(Batches, OneBadItemOfACancelFailsAlone) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "1", .due = in(1h)}));
  const std::string long_key(core::kMaxKey + 1, 'k');
  const std::string_view keys[] = {"", long_key, "k"};
  const std::vector<Result<Answer>> answers = must(q.cancel(keys));
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(answers[1].error().code, ErrorCode::too_large);
  EXPECT_EQ(must(answers[2]), Outcome::cancelled);
}

TEST_P(Batches, OneBadItemOfARescheduleFailsAlone) {
  const Queue q = queue();
  (void)must(q.push({.key = "a", .payload = "1", .due = in(1h)}));
  (void)must(q.push({.key = "b", .payload = "1", .due = in(1h)}));
  const Reschedule items[] = {{.key = "a", .due = in(-1s), .priority = {}},
                              {.key = "", .due = in(1s), .priority = {}},
                              {.key = "b", .due = in(1s), .priority = {}},
                              {.key = "no", .due = in(1s), .priority = {}}};
  const std::vector<Result<Answer>> answers = must(q.reschedule(items));
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers[0].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(answers[1].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(must(answers[2]), Outcome::rescheduled);
  EXPECT_EQ(must(answers[3]), Outcome::unknown);
  clock().advance(1s);
  EXPECT_EQ(claim_one(q).key(), "b");
}

TEST_P(Batches, OneBadItemOfASettleFailsAlone) {
  const Queue q = queue();
  for (const char* key : {"{s}a", "{s}b", "{s}c"}) (void)must(q.push({.key = key, .payload = "x"}));
  const std::vector<Delivery> claimed = claim(q, 3);
  ASSERT_EQ(claimed.size(), 3u);
  const std::string long_reason(core::kMaxReason + 1, 'r');
  const Settle items[] = {
      {.receipt = claimed[0].receipt(), .action = Action::retry, .delay = -1ms, .reason = {}},
      {.receipt = "", .action = Action::ack, .reason = {}},
      {.receipt = claimed[1].receipt(), .action = Action::bury, .reason = long_reason},
      {.receipt = claimed[2].receipt(), .action = Action::ack, .reason = {}}};
  const std::vector<Result<Answer>> answers = must(q.settle(items));
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers[0].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(answers[1].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(answers[2].error().code, ErrorCode::too_large);
  EXPECT_EQ(must(answers[3]), Outcome::done);
  EXPECT_EQ(must(q.stats()).leased, 2u);
  EXPECT_EQ(must(q.ack(claimed[0].receipt())), Outcome::done);
}

TEST_P(Batches, AGetAnswersItemByItem) {
  const Queue q = queue();
  (void)must(q.push({.key = "a", .payload = "1"}));
  (void)must(q.push({.key = "b", .payload = "2", .due = in(1h)}));
  const std::string long_key(core::kMaxKey + 1, 'k');
  const std::vector<std::string_view> keys = {"b", long_key, "none", "a", "b"};
  Pending<std::vector<Result<MessageInfo>>> later;
  q.get(keys, later.callback());
  for (const auto& found : {must(q.get(keys)), must(later.get())}) {
    ASSERT_EQ(found.size(), 5u);
    EXPECT_EQ(must(found[0]).payload, "2");
    EXPECT_EQ(must(found[0]).state, State::scheduled);
    EXPECT_EQ(found[1].error().code, ErrorCode::too_large);
    EXPECT_EQ(found[2].error().code, ErrorCode::not_found);
    EXPECT_EQ(must(found[3]).payload, "1");
    EXPECT_EQ(must(found[4]).key, "b");
  }
}

TEST_P(Batches, AnExtensionAnswersItemByItem) {
  const Queue q = queue();
  for (const char* key : {"a", "b", "c"}) (void)must(q.push({.key = key, .payload = "x"}));
  const std::vector<Delivery> claimed = claim(q, 3, 10s);
  ASSERT_EQ(claimed.size(), 3u);
  EXPECT_EQ(must(q.ack(claimed[1].receipt())), Outcome::done);
  const auto expect_extended = [&](const std::vector<Result<Answer>>& answers, Millis lease) {
    ASSERT_EQ(answers.size(), 3u);
    EXPECT_EQ(must(answers[0]), Outcome::done);
    EXPECT_EQ(must(answers[1]), Outcome::stale);
    EXPECT_EQ(must(answers[2]), Outcome::done);
    for (const auto& each : {claimed[0], claimed[2]}) {
      EXPECT_EQ(find(q, each.key())->lease_left, lease);
    }
  };
  expect_extended(must(q.extend(claimed, 20s)), 20s);
  const std::vector<std::string_view> receipts = {claimed[0].receipt(), claimed[1].receipt(),
                                                  claimed[2].receipt()};
  expect_extended(must(store().extend(receipts, 30s)), 30s);
  Pending<std::vector<Result<Answer>>> by_receipts;
  q.extend(receipts, 40s, by_receipts.callback());
  expect_extended(must(by_receipts.get()), 40s);
  Pending<std::vector<Result<Answer>>> by_deliveries;
  store().extend(claimed, 50s, by_deliveries.callback());
  expect_extended(must(by_deliveries.get()), 50s);
  const auto refused = must(q.extend({"", claimed[0].receipt()}, 60s));
  ASSERT_EQ(refused.size(), 2u);
  EXPECT_EQ(refused[0].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(must(refused[1]), Outcome::done);
}

TEST_P(Batches, EmptyOnesAnswerNothing) {
  const Queue q = queue();
  EXPECT_TRUE(must(q.push(std::span<const Push>())).empty());
  EXPECT_TRUE(must(q.cancel(std::span<const std::string_view>())).empty());
  EXPECT_TRUE(must(q.reschedule(std::span<const Reschedule>())).empty());
  EXPECT_TRUE(must(q.settle(std::span<const Settle>())).empty());
}

TEST_P(Batches, AsManyAsTheLimit) {
  const Queue q = queue();
  const std::vector<std::string> keys = numbered(core::kMaxBatch);
  std::vector<Push> messages;
  std::vector<Reschedule> moves;
  for (const std::string& key : keys) {
    messages.push_back({.key = key, .payload = key, .due = in(1h)});
    moves.push_back({.key = key, .due = in(1s), .priority = {}});
  }
  const std::vector<Result<Pushed>> pushed = must(q.push(messages));
  ASSERT_EQ(pushed.size(), keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) ASSERT_EQ(must(pushed[i]).key, keys[i]);

  const std::vector<Result<Answer>> moved = must(q.reschedule(moves));
  ASSERT_EQ(moved.size(), keys.size());
  for (const Result<Answer>& answer : moved) ASSERT_EQ(must(answer), Outcome::rescheduled);

  clock().advance(1s);
  std::vector<Settle> acks;
  std::set<std::string> seen;
  const std::vector<Delivery> claimed = claim(q, core::kMaxBatch);
  ASSERT_EQ(claimed.size(), keys.size());
  for (const Delivery& delivery : claimed) {
    ASSERT_EQ(delivery.key(), delivery.payload());
    seen.emplace(delivery.key());
    acks.push_back({.receipt = delivery.receipt(), .action = Action::ack, .reason = {}});
  }
  EXPECT_EQ(seen.size(), keys.size());
  const std::vector<Result<Answer>> acked = must(q.settle(acks));
  ASSERT_EQ(acked.size(), keys.size());
  for (const Result<Answer>& answer : acked) ASSERT_EQ(must(answer), Outcome::done);
  for (const Result<Answer>& answer : must(q.cancel(views(keys)))) {
    ASSERT_EQ(must(answer), Outcome::unknown);
  }
  EXPECT_EQ(must(q.stats()).counters.acked, core::kMaxBatch);
}

TEST_P(Batches, OneMoreThanTheLimitIsRefusedWholeAndChangesNothing) {
  const Queue q = queue();
  (void)must(q.push({.key = "k1", .payload = "x", .due = in(1h)}));
  const std::vector<std::string> keys = numbered(core::kMaxBatch + 1);
  std::vector<Push> messages;
  std::vector<Reschedule> moves;
  std::vector<Settle> acks;
  for (const std::string& key : keys) {
    messages.push_back({.key = key, .payload = "x"});
    moves.push_back({.key = key, .due = in(1s), .priority = {}});
    acks.push_back({.receipt = key, .action = Action::ack, .reason = {}});
  }
  const auto pushed = q.push(messages);
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, ErrorCode::too_large);
  expect_names(pushed.error(), {"10001", "10000"});
  const auto moved = q.reschedule(moves);
  ASSERT_FALSE(moved);
  expect_names(moved.error(), {"10001", "10000"});
  const auto cancelled = q.cancel(views(keys));
  ASSERT_FALSE(cancelled);
  expect_names(cancelled.error(), {"10001", "10000"});
  const auto settled = q.settle(acks);
  ASSERT_FALSE(settled);
  expect_names(settled.error(), {"10001", "10000"});
  const auto got = q.get(views(keys));
  ASSERT_FALSE(got);
  expect_names(got.error(), {"10001", "10000"});
  const auto extended = q.extend(views(keys), 1s);
  ASSERT_FALSE(extended);
  expect_names(extended.error(), {"10001", "10000"});
  EXPECT_EQ(must(q.stats()).counters.accepted, 1u);
  EXPECT_EQ(find(q, "k1")->state, State::scheduled);
}

TEST_P(Batches, MoreBytesThanTheLimitAreRefusedWhole) {
  const Queue q = queue();
  const std::string mebibyte(1u << 20, 'm');
  const std::vector<Push> messages((core::kMaxBatchBytes >> 20) + 1,
                                   Push{.payload = mebibyte, .due = in(1h)});
  const auto pushed = q.push(messages);
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code, ErrorCode::too_large);
  expect_names(pushed.error(), {std::to_string(core::kMaxBatchBytes)});
  const Result<QueueStats> stats = q.stats();
  if (stats) {
    EXPECT_EQ(stats->counters.accepted, 0u);
  }
}

}  // namespace
}  // namespace tarry::contract
