// Bad input: each limit of core/limits.h is tried at the limit and one above it, and so are
// ill-formed values. Each error is one line that names the value and the limit, and changes
// nothing.
#include "core/limits.h"

#include "contract.h"

namespace tarry::contract {
namespace {

class Limits : public Contract {
 protected:
  template <typename T>
  void refused(const Result<T>& result, ErrorCode code,
               std::initializer_list<std::string_view> names,
               std::source_location where = std::source_location::current()) {
    SCOPED_TRACE("line " + std::to_string(where.line()));
    ASSERT_FALSE(result) << "was taken";
    EXPECT_EQ(result.error().code, code) << result.error().message;
    expect_names(result.error(), names);
  }
  static constexpr ErrorCode kInvalid = ErrorCode::invalid_argument;
  static constexpr ErrorCode kTooLarge = ErrorCode::too_large;
};
TARRY_ON_ALL_ENGINES(Limits);

TEST_P(Limits, QueueNames) {
  const std::string longest(core::kMaxQueueName, 'q');
  EXPECT_EQ(must(queue(longest).push({.key = "k", .payload = "x"})).outcome, Outcome::pushed);
  EXPECT_EQ(claim_one(queue(longest)).queue(), longest);
  for (const char* good : {"a", "-/a", "A-z_0.9+/;.$_():@"}) {
    if (good[0] == '-') continue;
    EXPECT_EQ(must(queue(good).push({.key = "k", .payload = "x"})).outcome, Outcome::pushed);
    EXPECT_EQ(claim_one(queue(good)).queue(), good);
    EXPECT_EQ(find(queue(good), "k")->queue, good);
    EXPECT_EQ(must(queue(good).stats()).queue, good);
  }
  refused(queue(longest + "q").push({.key = "k", .payload = "x"}), kTooLarge, {"128", "127"});
  refused(queue("").push({.key = "k", .payload = "x"}), kInvalid, {"\"\"", "127"});
  refused(queue("-a").push({.key = "k", .payload = "x"}), kInvalid, {"-a"});
  for (const std::string_view bad :
       {"a b", "a\n", "a,b", "a\"", "caf\xc3\xa9", "a#", "a?b", "a%41"}) {
    refused(queue(bad).push({.key = "k", .payload = "x"}), kInvalid, {"127"});
  }
  if (is_by(By::command_line)) return;  // an argument ends at a zero byte
  refused(queue(std::string_view("a\0b", 3)).push({.key = "k", .payload = "x"}), kInvalid, {"127"});
}

TEST_P(Limits, EveryVerbRefusesABadQueueName) {
  const Queue bad = queue("no good");
  const std::string_view keys[] = {"k"};
  refused(bad.push({.key = "k", .payload = "x"}), kInvalid, {"no good"});
  refused(bad.cancel("k"), kInvalid, {"no good"});
  refused(bad.reschedule("k", in(1s)), kInvalid, {"no good"});
  refused(bad.get("k"), kInvalid, {"no good"});
  refused(bad.claim(), kInvalid, {"no good"});
  refused(bad.stats(), kInvalid, {"no good"});
  refused(bad.list(), kInvalid, {"no good"});
  refused(bad.configure({}), kInvalid, {"no good"});
  refused(bad.pause(), kInvalid, {"no good"});
  refused(bad.resume(), kInvalid, {"no good"});
  refused(bad.purge(), kInvalid, {"no good"});
  refused(bad.revive(), kInvalid, {"no good"});
  refused(bad.revive(keys), kInvalid, {"no good"});
  const std::string_view queues[] = {"good", "no good"};
  refused(store().claim(queues, {}), kInvalid, {"no good"});
  EXPECT_TRUE(must(store().stats()).queues.empty());
}

TEST_P(Limits, Keys) {
  const Queue q = queue();
  const std::string longest(core::kMaxKey, 'k');
  const std::string over = longest + "k";
  EXPECT_EQ(must(q.push({.key = longest, .payload = "x", .due = in(1h)})).outcome, Outcome::pushed);
  EXPECT_EQ(must(q.reschedule(longest, in(2h))), Outcome::rescheduled);
  EXPECT_EQ(find(q, longest)->key, longest);
  EXPECT_EQ(must(q.cancel(longest)), Outcome::cancelled);
  refused(q.push({.key = over, .payload = "x"}), kTooLarge, {"513", "512"});
  refused(q.cancel(over), kTooLarge, {"513", "512"});
  refused(q.reschedule(over, in(1s)), kTooLarge, {"513", "512"});
  refused(q.get(over), kTooLarge, {"513", "512"});
  refused(q.cancel(""), kInvalid, {"\"\"", "512"});
  refused(q.reschedule("", in(1s)), kInvalid, {"\"\"", "512"});
  refused(q.get(""), kInvalid, {"\"\"", "512"});
}

TEST_P(Limits, Payloads) {
  const Queue q = queue();
  const std::string largest(core::kDefaultMaxPayload, 'p');
  EXPECT_EQ(must(q.push({.key = "k", .payload = largest})).outcome, Outcome::pushed);
  refused(q.push({.key = "l", .payload = largest + "p"}), kTooLarge, {"1048577", "1048576"});
  EXPECT_FALSE(find(q, "l"));
  EXPECT_EQ(must(q.stats()).counters.accepted, 1u);
}

TEST_P(Limits, HeaderSizes) {
  const Queue q = queue();
  const auto with = [](std::size_t name, std::size_t value) {
    return Headers{{std::string(name, 'n'), std::string(value, 'v')}};
  };
  EXPECT_EQ(
      must(q.push({.key = "a", .payload = "x", .headers = with(255, core::kMaxHeaders - 255)}))
          .outcome,
      Outcome::pushed);
  refused(q.push({.key = "b", .payload = "x", .headers = with(255, core::kMaxHeaders - 254)}),
          kTooLarge, {"16384"});
  refused(q.push({.key = "b", .payload = "x", .headers = with(256, 1)}), kInvalid, {"255"});
  refused(q.push({.key = "b", .payload = "x", .headers = with(1, 70'000)}), kTooLarge,
          {"70001", "16384"});
  EXPECT_FALSE(find(q, "b"));
}

TEST_P(Limits, HeaderCounts) {
  const Queue q = queue();
  const Headers most(core::kMaxHeaderCount, {"n", ""});
  EXPECT_EQ(must(q.push({.key = "a", .payload = "x", .headers = most})).outcome, Outcome::pushed);
  EXPECT_EQ(find(q, "a")->headers, most);
  EXPECT_EQ(claim_one(q).headers(), most);
  // As many headers as fit into the 16 KiB of names and values.
  refused(q.push({.key = "b", .payload = "x", .headers = Headers(core::kMaxHeaders, {"n", ""})}),
          kTooLarge, {"16384", "4096"});
  EXPECT_FALSE(find(q, "b"));
}

TEST_P(Limits, HeaderNames) {
  const Queue q = queue();
  EXPECT_EQ(must(q.push({.key = "good", .payload = "x", .headers = {{"!#$%&'*+-.^_`|~aZ09", ""}}}))
                .outcome,
            Outcome::pushed);
  for (const char* bad : {"", "a b", "a:b", "a\n", "caf\xc3\xa9", "a/b", "\x7f"}) {
    refused(q.push({.key = "bad", .payload = "x", .headers = {{bad, "v"}}}), kInvalid, {"255"});
  }
  EXPECT_FALSE(find(q, "bad"));
}

TEST_P(Limits, Delays) {
  const Queue q = queue();
  const Millis longest(core::kMaxDelayMs);
  const Pushed pushed = must(q.push({.key = "k", .payload = "x", .due = in(longest)}));
  EXPECT_EQ(ms(pushed.due), now_ms() + core::kMaxDelayMs);
  EXPECT_EQ(must(q.reschedule("k", in(longest))), Outcome::rescheduled);
  refused(q.push({.key = "l", .payload = "x", .due = in(longest + 1ms)}), kInvalid, {"36525d"});
  refused(q.push({.key = "l", .payload = "x", .due = in(hours::max())}), kInvalid, {"36525d"});
  refused(q.push({.key = "l", .payload = "x", .due = in(-1ms)}), kInvalid, {"-1", "36525d"});
  refused(q.push({.key = "l", .payload = "x", .due = in(hours::min())}), kInvalid, {"36525d"});
  refused(q.reschedule("k", in(longest + 1ms)), kInvalid, {"36525d"});
  refused(q.reschedule("k", in(-1ms)), kInvalid, {"-1", "36525d"});
  EXPECT_FALSE(find(q, "l"));
  EXPECT_EQ(ms(find(q, "k")->due), ms(pushed.due));
}

TEST_P(Limits, Moments) {
  const Queue q = queue();
  constexpr std::int64_t year_2200 = 7'289'654'399'999;  // the year's last millisecond
  const std::int64_t last = now_ms() + core::kMaxDelayMs;
  const auto moment = [](std::int64_t value) { return at(Time(Millis(value))); };
  EXPECT_EQ(ms(must(q.push({.key = "first", .payload = "x", .due = moment(0)})).due), 0);
  EXPECT_EQ(ms(must(q.push({.key = "last", .payload = "x", .due = moment(last)})).due), last);
  EXPECT_EQ(claim_one(q).key(), "first");
  refused(q.push({.key = "l", .payload = "x", .due = moment(last + 1)}), kInvalid,
          {std::to_string(last + 1), "100 years"});
  refused(q.reschedule("last", moment(last + 1)), kInvalid,
          {std::to_string(last + 1), "100 years"});
  refused(q.push({.key = "l", .payload = "x", .due = moment(year_2200 + 1)}), kInvalid,
          {"7289654400000", "7289654399999"});
  refused(q.push({.key = "l", .payload = "x", .due = moment(-1)}), kInvalid, {"-1"});
  refused(q.pause(Time(Millis(year_2200 + 1))), kInvalid, {"7289654400000", "7289654399999"});
  EXPECT_FALSE(find(q, "l"));
  EXPECT_EQ(ms(find(q, "last")->due), last);
  EXPECT_FALSE(must(q.stats()).paused);
}

TEST_P(Limits, AttemptsOfAPush) {
  const Queue q = queue();
  EXPECT_EQ(must(q.push({.key = "k", .payload = "x", .max_attempts = core::kMaxAttempts})).outcome,
            Outcome::pushed);
  refused(q.push({.key = "l", .payload = "x", .max_attempts = core::kMaxAttempts + 1}), kInvalid,
          {"65536", "65535"});
}

TEST_P(Limits, LeasesOfClaims) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Millis longest(core::kMaxLeaseMs);
  refused(q.claim({.lease = 0ms}), kInvalid, {"0s", "7d"});
  refused(q.claim({.lease = -1s}), kInvalid, {"-1", "7d"});
  refused(q.claim({.lease = longest + 1ms}), kInvalid, {"7d"});
  EXPECT_EQ(find(q, "k")->attempt, 0u);
  const Delivery brief = claim_one(q, 1ms);
  clock().advance(1ms);
  EXPECT_EQ(must(q.ack(brief.receipt())), Outcome::stale);
  const Delivery held = claim_one(q, longest);
  EXPECT_EQ(held.lease(), longest);
  clock().advance(longest - 1ms);
  EXPECT_EQ(must(q.ack(held.receipt())), Outcome::done);
}

TEST_P(Limits, LeasesOfExtensions) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(q, 1h);
  const Millis longest(core::kMaxLeaseMs);
  refused(q.extend(delivery.receipt(), 0ms), kInvalid, {"0s", "7d"});
  refused(q.extend(delivery.receipt(), longest + 1ms), kInvalid, {"7d"});
  EXPECT_EQ(find(q, "k")->lease_left, Millis(1h));
  EXPECT_EQ(must(q.extend(delivery.receipt(), longest)), Outcome::done);
  EXPECT_EQ(find(q, "k")->lease_left, longest);
}

TEST_P(Limits, ClaimOptionsAsAWhole) {
  const Queue q = queue();
  (void)must(q.configure({}));
  EXPECT_TRUE(must(q.claim({.max = core::kMaxBatch})).empty());
  refused(q.claim({.max = 0}), kInvalid, {"0", "10000"});
  refused(q.claim({.max = core::kMaxBatch + 1}), kInvalid, {"10001", "10000"});
  refused(q.claim({.max_bytes = 0}), kInvalid, {"0", "1"});
  EXPECT_TRUE(must(q.claim({.max_bytes = core::kMaxClaimBytes})).empty());
  refused(q.claim({.max_bytes = core::kMaxClaimBytes + 1}), kInvalid, {"134217729", "134217728"});
  refused(q.claim({.max_bytes = 6ull << 30}), kInvalid, {"6442450944", "134217728"});
  refused(q.claim({.wait = -1ms}), kInvalid, {"-1", "1h"});
  refused(q.claim({.wait = Millis(core::kMaxWaitMs) + 1ms}), kInvalid, {"1h"});
  (void)must(q.push({.payload = "x"}));
  EXPECT_EQ(must(q.claim({.wait = Millis(core::kMaxWaitMs)})).size(), 1u);
}

TEST_P(Limits, QueuesOfAClaim) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i <= core::kMaxClaimQueues; ++i) names.push_back("q" + std::to_string(i));
  std::vector<std::string_view> all(names.begin(), names.end());
  (void)must(queue("q999").push({.key = "k", .payload = "x"}));
  refused(store().claim(all, {}), kTooLarge, {"1001", "1000"});
  all.pop_back();
  EXPECT_EQ(must(store().claim(all, {})).size(), 1u);
  refused(store().claim({}, {}), kInvalid, {"0", "1000"});
  const std::string_view twice[] = {"a", "b", "a"};
  refused(store().claim(twice, {}), kInvalid, {"\"a\""});
}

TEST_P(Limits, RetryDelays) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const Delivery delivery = claim_one(q);
  const Millis longest(core::kMaxDelayMs);
  refused(q.retry(delivery.receipt(), -1ms), kInvalid, {"-1", "36525d"});
  refused(q.retry(delivery.receipt(), longest + 1ms), kInvalid, {"36525d"});
  EXPECT_EQ(find(q, "k")->state, State::leased);
  EXPECT_EQ(must(q.retry(delivery.receipt(), longest)), Outcome::done);
  EXPECT_EQ(ms(find(q, "k")->due), now_ms() + core::kMaxDelayMs);
}

TEST_P(Limits, Reasons) {
  const Queue q = queue();
  for (const char* key : {"a", "b"}) (void)must(q.push({.key = key, .payload = "x"}));
  const std::vector<Delivery> claimed = claim(q, 1);
  const std::string longest(core::kMaxReason, 'r');
  refused(q.bury(claimed.at(0).receipt(), longest + "r"), kTooLarge, {"256", "255"});
  refused(q.bury(claimed.at(0).receipt(), "\xff"), kInvalid, {"UTF-8"});
  EXPECT_EQ(must(q.bury(claimed.at(0).receipt(), longest)), Outcome::done);
  EXPECT_EQ(find(q, claimed.at(0).key())->reason, longest);
}

TEST_P(Limits, Receipts) {
  const Queue q = queue();
  (void)must(q.configure({}));
  refused(q.ack(std::string(core::kMaxReceipt, 'r')), kInvalid, {"claim"});
  refused(q.ack(std::string(core::kMaxReceipt + 1, 'r')), kTooLarge, {"1025", "1024"});
  refused(q.ack(""), kInvalid, {"\"\"", "1024"});
  refused(q.extend(std::string(core::kMaxReceipt + 1, 'r')), kTooLarge, {"1025", "1024"});
  refused(q.extend(""), kInvalid, {"\"\"", "1024"});
}

TEST_P(Limits, WhatHasNoEffectIsRefused) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const std::string receipt(claim_one(q).receipt());
  refused(q.settle(Settle{.receipt = receipt, .action = Action::ack, .delay = 1s, .reason = {}}),
          kInvalid, {"delay", "ack"});
  refused(q.settle(Settle{.receipt = receipt, .action = Action::bury, .delay = 1s, .reason = {}}),
          kInvalid, {"delay", "bury"});
  refused(q.settle(Settle{.receipt = receipt, .action = Action::release, .reason = "r"}), kInvalid,
          {"reason", "release"});
  refused(q.settle(Settle{.receipt = receipt, .action = Action::ack, .reason = {}, .priority = 1}),
          kInvalid, {"priority", "ack"});
  EXPECT_EQ(find(q, "k")->state, State::leased);
}

TEST_P(Limits, Lists) {
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  ListOptions options;
  options.limit = 0;
  refused(q.list(options), kInvalid, {"0", "10000"});
  options.limit = core::kMaxListLimit + 1;
  refused(q.list(options), kInvalid, {"10001", "10000"});
  options.limit = core::kMaxListLimit;
  EXPECT_EQ(must(q.list(options)).messages.size(), 1u);
  const std::string prefix(core::kMaxKey + 1, 'p');
  options.prefix = prefix;
  refused(q.list(options), kTooLarge, {"513", "512"});
  options.prefix = {};
  options.after = "not a page's next";
  refused(q.list(options), kInvalid, {"not a page's next"});
}

// A request of a few bytes must not be answered with gigabytes.
TEST_P(Limits, BytesOfAGet) {
  const Queue q = queue();
  const std::string payload(core::kDefaultMaxPayload, 'p');
  (void)must(q.push({.key = "k", .payload = payload}));
  core::GetRequest request;
  request.queue = "q";
  const core::Slice key = core::append(request.bytes, "k");
  request.keys.assign(70, key);
  core::GetRequest again = request;
  const auto reply = std::get<core::GetReply>(must(submit(rig().engine(), std::move(request))));
  ASSERT_EQ(reply.items.size(), 70u);
  std::size_t answered = 0;
  for (const Result<MessageInfo>& item : reply.items) {
    if (item) {
      EXPECT_EQ(item->payload.size(), payload.size());
      ++answered;
    } else {
      refused(item, kTooLarge, {"\"k\"", std::to_string(core::kMaxReplyBytes)});
    }
  }
  // The payloads count together with their keys.
  EXPECT_EQ(answered, core::kMaxReplyBytes / core::kDefaultMaxPayload - 1);

  again.with_payload = false;
  const auto bare = std::get<core::GetReply>(must(submit(rig().engine(), std::move(again))));
  for (const Result<MessageInfo>& item : bare.items) EXPECT_EQ(must(item).key, "k");
}

TEST_P(Limits, Settings) {
  const Queue q = queue();
  const auto day = [](int days) { return Millis(hours(24 * days)); };
  EXPECT_EQ(must(q.configure({.lease = 1ms,
                              .max_attempts = 1,
                              .backoff_min = 0ms,
                              .backoff_max = 0ms,
                              .remember = 0ms,
                              .dead_keep = 1s,
                              .objective = Objective{1'000, 1ms}}))
                .dead_keep,
            1s);
  EXPECT_EQ(must(q.configure({.lease = day(7),
                              .max_attempts = core::kMaxAttempts,
                              .backoff_min = day(365),
                              .backoff_max = day(365),
                              .remember = day(365),
                              .dead_keep = day(3650),
                              .objective = Objective{99'999, day(7)}}))
                .dead_keep,
            day(3650));
  const QueueSettings before = must(q.stats()).settings;
  refused(q.configure({.lease = 0ms}), kInvalid, {"0s", "7d"});
  refused(q.configure({.lease = day(7) + 1ms}), kInvalid, {"lease", "7d"});
  refused(q.configure({.max_attempts = 0}), kInvalid, {"0", "65535"});
  refused(q.configure({.max_attempts = core::kMaxAttempts + 1}), kInvalid, {"65536", "65535"});
  refused(q.configure({.backoff_min = -1ms}), kInvalid, {"-1", "365d"});
  refused(q.configure({.backoff_max = day(365) + 1ms}), kInvalid, {"backoff_max", "365d"});
  refused(q.configure({.backoff_min = 2s, .backoff_max = 1s}), kInvalid, {"2s", "1s"});
  refused(q.configure({.backoff_max = 1s}), kInvalid, {"365d", "1s"});
  refused(q.configure({.remember = day(365) + 1ms}), kInvalid, {"remember", "365d"});
  refused(q.configure({.remember = -1ms}), kInvalid, {"-1", "365d"});
  refused(q.configure({.dead_keep = 999ms}), kInvalid, {"999ms", "1s"});
  refused(q.configure({.dead_keep = day(3650) + 1ms}), kInvalid, {"dead_keep", "3650d"});
  refused(q.configure({.expire = -1ms}), kInvalid, {"-1", "36525d"});
  refused(q.configure({.expire = day(36'525) + 1ms}), kInvalid, {"expire", "36525d"});
  refused(q.configure({.max_leased = 1'000'001}), kInvalid, {"max_leased", "1000001", "1000000"});
  refused(q.configure({.rate = DeliveryRate{0, 1s, 1}}), kInvalid, {"rate", "1000000"});
  refused(q.configure({.rate = DeliveryRate{1, 1s, 1'000'001}}), kInvalid, {"rate", "1000000"});
  refused(q.configure({.rate = DeliveryRate{1, day(8), 1}}), kInvalid, {"rate", "1/8d", "7d"});
  refused(q.configure({.objective = Objective{100'000, 1s}}), kInvalid, {"100%", "99.999"});
  refused(q.configure({.objective = Objective{999, 1s}}), kInvalid, {"0.999%", "99.999"});
  refused(q.configure({.objective = Objective{99'000, 0ms}}), kInvalid, {"0s", "7d"});
  refused(q.configure({.objective = Objective{99'000, day(7) + 1ms}}), kInvalid, {"99%", "7d"});
  EXPECT_EQ(must(q.stats()).settings, before);
}

TEST_P(Limits, EnumeratorsThatAreNone) {
  if (is_by(By::command_line)) return;  // a command accepts only the names of existing values
  const Queue q = queue();
  (void)must(q.push({.key = "k", .payload = "x"}));
  const QueueSettings before = must(q.stats()).settings;
  refused(q.configure({.if_exists = static_cast<IfExists>(5)}), kInvalid, {"if_exists", "earlier"});
  EXPECT_EQ(must(q.stats()).settings, before);
  refused(q.push({.key = "l", .payload = "x", .if_exists = static_cast<IfExists>(5)}), kInvalid,
          {"if_exists", "earlier"});
  EXPECT_FALSE(find(q, "l"));
  refused(q.list({.state = static_cast<State>(5)}), kInvalid, {"state", "remembered"});
  const Delivery delivery = claim_one(q);
  const std::string receipt(delivery.receipt());
  refused(q.settle(Settle{.receipt = receipt, .action = static_cast<Action>(4), .reason = {}}),
          kInvalid, {"action 4", "bury"});
  EXPECT_EQ(find(q, "k")->state, State::leased);
}

TEST_P(Limits, PrioritiesOfAllValues) {
  const Queue q = queue();
  for (const std::uint32_t priority : {0u, 1u, 1024u, 2'147'483'648u, 4'294'967'295u}) {
    (void)must(q.push({.key = "k", .payload = "x", .priority = priority}));
    EXPECT_EQ(find(q, "k")->priority, priority);
    const Delivery delivery = claim_one(q);
    EXPECT_EQ(delivery.priority(), priority);
    EXPECT_EQ(must(q.ack(delivery.receipt())), Outcome::done);
  }
}

}  // namespace
}  // namespace tarry::contract
