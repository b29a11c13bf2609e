#include "core/rules/validation.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <cstddef>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "core/rules/headers.h"
#include "core/settings/settings_table.h"

namespace tarry::core {
namespace {

using namespace std::chrono_literals;
constexpr auto kInvalid = ErrorCode::invalid_argument;
constexpr auto kTooLarge = ErrorCode::too_large;

// Expects one line that names the value and the limit.
testing::AssertionResult is_error(const MaybeError& error, ErrorCode code,
                                  const std::vector<std::string_view>& names) {
  if (!error) return testing::AssertionFailure() << "accepted";
  const testing::AssertionResult failed = testing::AssertionFailure()
                                          << to_string(error->code) << ": " << error->message;
  if (error->code != code || error->message.find('\n') != std::string::npos ||
      error->message.size() > 300) {
    return failed;
  }
  for (const std::string_view name : names) {
    if (error->message.find(name) == std::string::npos) return failed;
  }
  return testing::AssertionSuccess();
}

constexpr auto accepted = [](const MaybeError& error) {
  return error ? testing::AssertionFailure() << error->message : testing::AssertionSuccess();
};

// -- queue names

TEST(QueueName, IsAccepted) {
  for (const std::string& name :
       {std::string("a"), std::string("orders"), std::string("A-Z+/;.$_():@09"),
        std::string("default"), std::string("x-"), std::string(127, 'q')}) {
    EXPECT_TRUE(accepted(check_queue_name(name))) << name;
  }
}

TEST(QueueName, IsRefused) {
  EXPECT_TRUE(is_error(check_queue_name(""), kInvalid, {"\"\"", "1 to 127"}));
  EXPECT_TRUE(is_error(check_queue_name("-a"), kInvalid, {"\"-a\"", "not beginning with -"}));
  for (const std::string_view name : {"a b", "a\n", "a,b", "a{b}", "a*", "caf\xC3\xA9", "a%", "a#",
                                      "a\\", "a\"", "a?", "a&b", "a=b", "a~"}) {
    EXPECT_TRUE(is_error(check_queue_name(name), kInvalid, {"queue name", "A-Z a-z 0-9"})) << name;
  }
  EXPECT_TRUE(is_error(check_queue_name(std::string_view("a\0b", 3)), kInvalid, {"\\x00"}));
  EXPECT_TRUE(is_error(check_queue_name(std::string(128, 'q')), kTooLarge,
                       {"qqq", "128 bytes", "limit of 127"}));
}

// A store made before such names were refused may have such a queue: users must be able to find,
// empty and remove it.
TEST(QueueName, ThatIsAStepWithinAPathMakesNone) {
  const auto of = [](auto request, std::string name) {
    request.queue = std::move(name);
    return check_request(request);
  };
  for (const char* name : {".", ".."}) {
    for (const MaybeError& error : {of(PushRequest{}, name), of(MoveRequest{}, name),
                                    of(ConfigureRequest{}, name), of(PauseRequest{}, name)}) {
      EXPECT_TRUE(is_error(error, kInvalid, {name, "neither . nor .."})) << name;
    }
    EXPECT_TRUE(accepted(of(CancelRequest{}, name)));
    EXPECT_TRUE(accepted(of(ListRequest{}, name)));
    EXPECT_TRUE(accepted(of(PurgeRequest{}, name)));
    EXPECT_TRUE(accepted(of(RemoveRequest{}, name)));
    EXPECT_TRUE(accepted(of(ResumeRequest{}, name)));
  }
  EXPECT_TRUE(accepted(of(PushRequest{}, "...")));
  EXPECT_TRUE(accepted(of(PushRequest{}, ".a")));
}

RC_GTEST_PROP(QueueName, AnyBytesGetAnAnswerOfOneLine, (const std::string& name)) {
  const MaybeError error = check_queue_name(name);
  if (error) {
    RC_ASSERT(error->message.find('\n') == std::string::npos);
    RC_ASSERT(error->message.find('\0') == std::string::npos);
  } else {
    RC_ASSERT(!name.empty());
    RC_ASSERT(name.size() <= kMaxQueueName);
  }
}

// -- keys, dues, leases, receipts

TEST(Key, HoldsOneTo512BytesOfAnyValue) {
  EXPECT_TRUE(accepted(check_key(std::string_view("\0\n\xFF", 3))));
  EXPECT_TRUE(accepted(check_key(std::string(512, 'k'))));
  EXPECT_TRUE(is_error(check_key(""), kInvalid, {"key \"\"", "1 to 512"}));
  EXPECT_TRUE(
      is_error(check_key(std::string(513, 'k')), kTooLarge, {"kkk", "513 bytes", "limit of 512"}));
}

TEST(Receipt, HoldsOneTo1024Bytes) {
  EXPECT_TRUE(accepted(check_receipt(std::string(1024, 'r'))));
  EXPECT_TRUE(is_error(check_receipt(""), kInvalid, {"receipt \"\"", "1 to 1024"}));
  EXPECT_TRUE(is_error(check_receipt(std::string(1025, 'r')), kTooLarge, {"1025 bytes", "1024"}));
}

TEST(DueCheck, DelaysAreFromNothingToAHundredYears) {
  EXPECT_TRUE(accepted(check_due(Due())));
  EXPECT_TRUE(accepted(check_due(Due::after(Millis(kMaxDelayMs)))));
  EXPECT_TRUE(is_error(check_due(Due::after(Millis(-1))), kInvalid, {"delay -1ms", "36525d"}));
  EXPECT_TRUE(is_error(check_due(Due::after(Millis(kMaxDelayMs + 1))), kInvalid,
                       {"delay 36525d0.001s", "to 36525d"}));
  EXPECT_TRUE(is_error(check_due(in(std::chrono::years(1'000'000'000))), kInvalid, {"delay"}));
  EXPECT_TRUE(is_error(check_due(in(-1h)), kInvalid, {"delay -1h"}));
}

TEST(DueCheck, MomentsAreFrom1970To2200) {
  const auto at_ms = [](std::int64_t ms) { return check_due(Due::at(Time(Millis(ms)))); };
  EXPECT_TRUE(accepted(at_ms(0)));
  EXPECT_TRUE(accepted(at_ms(7'289'654'399'999)));
  EXPECT_TRUE(is_error(at_ms(-1), kInvalid, {"due -1 ms"}));
  EXPECT_TRUE(is_error(at_ms(7'289'654'400'000), kInvalid, {"due 7289654400000 ms", "2200"}));
  EXPECT_TRUE(is_error(at_ms(INT64_MIN), kInvalid, {"due"}));
  EXPECT_TRUE(is_error(at_ms(INT64_MAX), kInvalid, {"due"}));
}

TEST(Lease, IsFromAMillisecondToAWeek) {
  EXPECT_TRUE(accepted(check_lease({})));
  EXPECT_TRUE(accepted(check_lease(1ms)));
  EXPECT_TRUE(accepted(check_lease(7 * 24h)));
  EXPECT_TRUE(is_error(check_lease(0ms), kInvalid, {"lease 0s", "1ms to 7d"}));
  EXPECT_TRUE(is_error(check_lease(-5s), kInvalid, {"lease -5s"}));
  EXPECT_TRUE(is_error(check_lease(7 * 24h + 1ms), kInvalid, {"lease 7d0.001s", "7d"}));
}

// -- settings

struct BadPatch {
  SettingsPatch patch;
  std::vector<std::string_view> names;
};

TEST(Patch, IsRefusedOutOfItsRanges) {
  const std::vector<BadPatch> bad = {
      {{.lease = 0ms}, {"lease 0s", "1ms"}},
      {{.lease = 8 * 24h}, {"lease 8d", "7d"}},
      {{.max_attempts = 0}, {"max_attempts 0", "1", "65535"}},
      {{.max_attempts = 65'536}, {"max_attempts 65536"}},
      {{.backoff_min = -1ms}, {"backoff_min -1ms"}},
      {{.backoff_min = 366 * 24h}, {"backoff_min 366d", "365d"}},
      {{.backoff_max = -1ms}, {"backoff_max -1ms"}},
      {{.backoff_max = 366 * 24h}, {"backoff_max 366d"}},
      {{.remember = -1ms}, {"remember -1ms"}},
      {{.remember = 366 * 24h}, {"remember 366d", "365d"}},
      {{.dead_keep = 999ms}, {"dead_keep 999ms", "1s"}},
      {{.dead_keep = 3651 * 24h}, {"dead_keep 3651d", "3650d"}},
      {{.backoff_min = 2s, .backoff_max = 1s}, {"backoff_min 2s", "1s"}},
      {{.backoff_min = 11min}, {"backoff_min 11m", "10m"}},
      {{.backoff_max = 999ms}, {"backoff_min 1s", "999ms"}},
      {{.if_exists = static_cast<IfExists>(5)}, {"if_exists 5", "keep, replace, earlier or later"}},
      {{.objective = Objective{100'000, 1s}}, {"objective 100% within 1s", "99.999"}},
      {{.objective = Objective{99'000, 0ms}}, {"objective 99% within 0s", "1ms to 7d"}},
      {{.objective = Objective{0, 1ms}}, {"objective", "1ms to 7d"}},
  };
  for (const BadPatch& each : bad) {
    EXPECT_TRUE(is_error(check_patch(each.patch, QueueSettings()), kInvalid, each.names))
        << each.names.front();
  }
}

TEST(Patch, IsAcceptedAtItsLimitsAndWhatIsEmptyStays) {
  EXPECT_TRUE(accepted(check_patch({}, QueueSettings())));
  EXPECT_EQ(apply({}, QueueSettings()), QueueSettings());
  const SettingsPatch all{.lease = 1ms,
                          .max_attempts = 65'535,
                          .backoff_min = 365 * 24h,
                          .backoff_max = 365 * 24h,
                          .remember = 365 * 24h,
                          .dead_keep = 3650 * 24h,
                          .if_exists = IfExists::later,
                          .objective = Objective{99'999, 7 * 24h}};
  EXPECT_TRUE(accepted(check_patch(all, QueueSettings())));
  const QueueSettings after = apply(all, QueueSettings());
  EXPECT_EQ(after.lease, 1ms);
  EXPECT_EQ(after.max_attempts, 65'535u);
  EXPECT_EQ(after.backoff_min, 365 * 24h);
  EXPECT_EQ(after.backoff_max, 365 * 24h);
  EXPECT_EQ(after.remember, 365 * 24h);
  EXPECT_EQ(after.dead_keep, 3650 * 24h);
  EXPECT_EQ(after.if_exists, IfExists::later);
  EXPECT_EQ(after.objective, (Objective{99'999, 7 * 24h}));
}

// -- items

PushRequest push_of(std::string_view key, std::size_t payload, const std::string& headers = {}) {
  PushRequest request;
  request.queue = "q";
  PushItem item;
  item.key = append(request.bytes, key);
  item.payload = append(request.bytes, std::string(payload, 'p'));
  item.headers = append(request.bytes, headers);
  request.items.push_back(item);
  return request;
}

MaybeError check_first(const PushRequest& request, Limits limits = {}) {
  return check_item(request, request.items.front(), limits);
}

TEST(PushItemCheck, KeyAndPayload) {
  EXPECT_TRUE(accepted(check_first(push_of("", 0))));
  EXPECT_TRUE(accepted(check_first(push_of(std::string(512, 'k'), 1 << 20))));
  EXPECT_TRUE(is_error(check_first(push_of(std::string(513, 'k'), 0)), kTooLarge, {"key", "512"}));
  EXPECT_TRUE(is_error(check_first(push_of("", (1 << 20) + 1)), kTooLarge,
                       {"payload of 1048577", "1048576"}));
  EXPECT_TRUE(is_error(check_first(push_of("", 11), {.max_payload = 10}), kTooLarge, {"11", "10"}));
}

TEST(PushItemCheck, DueAndAttempts) {
  PushRequest request = push_of("k", 1);
  request.items[0].due = Due::after(Millis(-1));
  EXPECT_TRUE(is_error(check_first(request), kInvalid, {"delay -1ms"}));
  request.items[0].due = {};
  request.items[0].max_attempts = 65'535;
  EXPECT_TRUE(accepted(check_first(request)));
  request.items[0].max_attempts = 65'536;
  EXPECT_TRUE(is_error(check_first(request), kInvalid, {"max_attempts 65536", "65535"}));
}

TEST(PushItemCheck, WhatToDoIfItExists) {
  PushRequest request = push_of("k", 1);
  request.items[0].if_exists = IfExists::later;
  EXPECT_TRUE(accepted(check_first(request)));
  request.items[0].if_exists = static_cast<IfExists>(99);
  EXPECT_TRUE(is_error(check_first(request), kInvalid, {"if_exists 99", "reject", "later"}));
}

TEST(PushItemCheck, Headers) {
  const std::string most = *encode_headers({{"a", std::string(8'191, 'x')},  //
                                            {"b", std::string(8'191, 'y')}});
  EXPECT_TRUE(accepted(check_first(push_of("k", 1, most))));
  // 16 KiB of names; with their lengths, the encoded headers are longer than 16 KiB.
  const std::string many = *encode_headers(Headers(4'096, {"n", ""}));
  EXPECT_TRUE(accepted(check_first(push_of("k", 1, many))));
  EXPECT_TRUE(is_error(check_first(push_of("k", 1, many + *encode_headers({{"n", ""}}))), kTooLarge,
                       {"4097 headers", "4096"}));
  const std::string one_more = most + *encode_headers({{"c", ""}});
  EXPECT_TRUE(is_error(check_first(push_of("k", 1, one_more)), kTooLarge, {"16385", "16384"}));
  EXPECT_TRUE(is_error(check_first(push_of("k", 1, most.substr(0, most.size() - 1))), kInvalid,
                       {"headers", "not well encoded"}));
  EXPECT_TRUE(is_error(check_first(push_of("k", 1, std::string(4, '\0'))), kInvalid, {"headers"}));
}

TEST(MoveItemCheck, AddsAttemptAndReason) {
  MoveRequest request;
  MoveItem item;
  item.push.key = append(request.bytes, "k");
  EXPECT_TRUE(accepted(check_item(request, item, {})));
  item.attempt = kMaxAttempts + 1;
  EXPECT_TRUE(is_error(check_item(request, item, {}), kInvalid, {"attempt 65536"}));
  item.attempt = 1;
  item.reason = append(request.bytes, "why");
  EXPECT_TRUE(is_error(check_item(request, item, {}), kInvalid, {"reason \"why\"", "dead"}));
  item.dead = true;
  EXPECT_TRUE(accepted(check_item(request, item, {})));
  item.reason = append(request.bytes, std::string(256, 'r'));
  EXPECT_TRUE(is_error(check_item(request, item, {}), kTooLarge, {"reason", "255"}));
  item.reason = {};
  for (const IfExists rule : {IfExists::replace, IfExists::earlier, IfExists::later}) {
    item.push.if_exists = rule;
    EXPECT_TRUE(is_error(check_item(request, item, {}), kInvalid,
                         {"if_exists \"" + std::string(to_string(rule)) + "\"", "reject", "keep"}));
  }
  for (const IfExists rule : {IfExists::reject, IfExists::keep}) {
    item.push.if_exists = rule;
    EXPECT_TRUE(accepted(check_item(request, item, {})));
  }
  item.push.due = Due::after(Millis(-1));
  EXPECT_TRUE(is_error(check_item(request, item, {}), kInvalid, {"delay"}));
}

TEST(RescheduleItemCheck, KeyAndDue) {
  RescheduleRequest request;
  RescheduleItem item{append(request.bytes, "k"), in(1s), {}};
  EXPECT_TRUE(accepted(check_item(request, item)));
  item.due = in(-1s);
  EXPECT_TRUE(is_error(check_item(request, item), kInvalid, {"delay -1s"}));
  item = {Slice{}, in(1s), {}};
  EXPECT_TRUE(is_error(check_item(request, item), kInvalid, {"key \"\""}));
}

struct SettleCase {
  SettleAction action;
  bool delay, reason, priority;  // which of these options the action takes
};

TEST(SettleItemCheck, WhatWouldHaveNoEffectIsRefused) {
  for (const SettleCase& each : {SettleCase{SettleAction::ack, false, false, false},
                                 SettleCase{SettleAction::retry, true, true, true},
                                 SettleCase{SettleAction::release, false, false, true},
                                 SettleCase{SettleAction::bury, false, true, true},
                                 SettleCase{SettleAction::move_away, false, false, false}}) {
    SettleRequest request;
    SettleItem item;
    item.receipt = append(request.bytes, "r");
    item.action = each.action;
    EXPECT_TRUE(accepted(check_item(request, item)));
    item.delay = 3s;
    EXPECT_EQ(!check_item(request, item), each.delay);
    item.delay.reset();
    item.reason = append(request.bytes, "why");
    EXPECT_EQ(!check_item(request, item), each.reason);
    item.reason = {};
    item.priority = 7;
    EXPECT_EQ(!check_item(request, item), each.priority);
  }
}

TEST(SettleItemCheck, Ranges) {
  SettleRequest request;
  SettleItem item;
  EXPECT_TRUE(is_error(check_item(request, item), kInvalid, {"receipt \"\""}));
  item.receipt = append(request.bytes, "r");
  item.delay = 3s;
  EXPECT_TRUE(is_error(check_item(request, item), kInvalid, {"delay 3s", "retry", "ack"}));
  item.action = SettleAction::retry;
  item.delay = -1ms;
  EXPECT_TRUE(is_error(check_item(request, item), kInvalid, {"delay -1ms", "36525d"}));
  item.delay.reset();
  item.action = SettleAction::bury;
  item.reason = append(request.bytes, std::string(255, 'r'));
  EXPECT_TRUE(accepted(check_item(request, item)));
  item.reason = append(request.bytes, std::string(256, 'r'));
  EXPECT_TRUE(is_error(check_item(request, item), kTooLarge, {"reason", "256 bytes", "255"}));
  item.reason = append(request.bytes, "\xFF");
  EXPECT_TRUE(is_error(check_item(request, item), kInvalid, {"\\xff", "UTF-8"}));
}

TEST(ActionCheck, IsOneOfFour) {
  for (const Action action : {Action::ack, Action::retry, Action::release, Action::bury}) {
    EXPECT_TRUE(accepted(check_action(action)));
  }
  EXPECT_TRUE(
      is_error(check_action(static_cast<Action>(4)), kInvalid, {"action 4", "ack", "bury"}));
}

TEST(ExtendItemCheck, ReceiptAndLease) {
  ExtendRequest request;
  ExtendItem item{append(request.bytes, "r"), {}};
  EXPECT_TRUE(accepted(check_item(request, item)));
  item.lease = 0ms;
  EXPECT_TRUE(is_error(check_item(request, item), kInvalid, {"lease 0s"}));
  item = {};
  EXPECT_TRUE(is_error(check_item(request, item), kInvalid, {"receipt"}));
}

// -- requests

TEST(RequestCheck, EveryKindThatNamesAQueueChecksIt) {
  const std::vector<Request> named = {PushRequest{"a b", {}, {}},
                                      CancelRequest{"a b", {}, {}},
                                      RescheduleRequest{"a b", {}, {}},
                                      GetRequest{"a b", {}, {}},
                                      ListRequest{"a b", {}, {}, {}, 1},
                                      StatsRequest{"a b"},
                                      ForecastRequest{"a b", 1s, 1},
                                      ConfigureRequest{"a b", {}},
                                      PauseRequest{"a b", {}},
                                      ResumeRequest{"a b"},
                                      PurgeRequest{"a b"},
                                      ReviveRequest{"a b", true, {}, {}},
                                      RemoveRequest{"a b", false},
                                      MoveRequest{"a b", {}, {}},
                                      ReshardRequest{"a b", 1, 0},
                                      ClaimRequest{{"a b"}, {}, false, 1, 1, {}, {}}};
  for (const Request& request : named) {
    EXPECT_TRUE(is_error(check_request(request), kInvalid, {"\"a b\""})) << request.index();
  }
}

TEST(RequestCheck, EmptyBatchesAreFine) {
  EXPECT_TRUE(accepted(check_request(PushRequest{"q", {}, {}})));
  EXPECT_TRUE(accepted(check_request(SettleRequest{})));
  EXPECT_TRUE(accepted(check_request(ExtendRequest{})));
  EXPECT_TRUE(accepted(check_request(StatsRequest{})));
  EXPECT_TRUE(accepted(check_request(ReviveRequest{"q", false, {}, {}})));
}

template <typename R>
R batch_of(std::size_t count, std::size_t bytes) {
  R request;
  if constexpr (requires { request.queue; }) request.queue = "q";
  if constexpr (requires { request.items; }) {
    request.items.resize(count);
  } else {
    request.keys.resize(count, Slice{0, 1});
  }
  request.bytes = std::string(bytes, 'b');
  return request;
}

template <typename R>
class BatchCheck : public testing::Test {};
using Batches = testing::Types<PushRequest, CancelRequest, RescheduleRequest, SettleRequest,
                               ExtendRequest, GetRequest, ReviveRequest, MoveRequest>;
TYPED_TEST_SUITE(BatchCheck, Batches);

TYPED_TEST(BatchCheck, IsLimitedInItemsAndBytes) {
  EXPECT_TRUE(accepted(check_request(batch_of<TypeParam>(10'000, 1))));
  EXPECT_TRUE(is_error(check_request(batch_of<TypeParam>(10'001, 1)), kTooLarge,
                       {"batch of 10001 items", "10000"}));
  EXPECT_TRUE(is_error(check_request(batch_of<TypeParam>(1, (128u << 20) + 1)), kTooLarge,
                       {"batch of 134217729 bytes", "134217728"}));
}

TEST(RequestCheck, Claims) {
  const auto claim = [](auto&& change) {
    ClaimRequest request;
    request.queues = {"q"};
    change(request);
    return check_request(request);
  };
  EXPECT_TRUE(accepted(claim([](ClaimRequest& c) {
    c.max = 10'000;
    c.max_bytes = 1;
    c.wait = 1h;
    c.lease = 7 * 24h;
    c.queues = {"q", "r"};
  })));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.queues.clear(); }), kInvalid, {"0 queues"}));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.queues.assign(1'001, "q"); }), kTooLarge,
                       {"1001 queues", "1000"}));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.queues = {"a", "b", "a"}; }), kInvalid,
                       {"\"a\"", "twice"}));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.max = 0; }), kInvalid, {"max 0", "10000"}));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.max = 10'001; }), kInvalid, {"max 10001"}));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.max_bytes = 0; }), kInvalid, {"max_bytes 0"}));
  EXPECT_TRUE(accepted(claim([](ClaimRequest& c) { c.max_bytes = kMaxClaimBytes; })));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.max_bytes = kMaxClaimBytes + 1; }), kInvalid,
                       {"max_bytes 134217729", "1 to 134217728"}));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.max_bytes = 5ull << 30; }), kInvalid,
                       {"max_bytes 5368709120", "134217728"}));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.lease = 0ms; }), kInvalid, {"lease 0s"}));
  EXPECT_TRUE(is_error(claim([](ClaimRequest& c) { c.wait = -1ms; }), kInvalid, {"wait -1ms"}));
  EXPECT_TRUE(
      is_error(claim([](ClaimRequest& c) { c.wait = 1h + 1ms; }), kInvalid, {"wait 1h", "1h"}));
}

TEST(RequestCheck, ClaimsByKey) {
  ClaimRequest claim;
  claim.queues = {"q"};
  claim.keys = {"k"};
  claim.any_state = true;
  EXPECT_TRUE(accepted(check_request(claim)));
  claim.queues = {"q", "r"};
  EXPECT_TRUE(is_error(check_request(claim), kInvalid, {"2 queues", "1"}));
  claim.queues = {"q"};
  claim.keys = {""};
  EXPECT_TRUE(is_error(check_request(claim), kInvalid, {"key \"\""}));
  claim.keys.assign(10'001, "k");
  EXPECT_TRUE(is_error(check_request(claim), kTooLarge, {"10001 keys", "10000"}));
  claim.keys.clear();
  EXPECT_TRUE(is_error(check_request(claim), kInvalid, {"any state"}));
}

TEST(RequestCheck, TheRest) {
  ListRequest list{"q", {}, {}, {}, 1};
  list.limit = 10'000;
  list.prefix = std::string(512, 'p');
  EXPECT_TRUE(accepted(check_request(list)));
  list.limit = 0;
  EXPECT_TRUE(is_error(check_request(list), kInvalid, {"limit 0", "1 to 10000"}));
  list.limit = 10'001;
  EXPECT_TRUE(is_error(check_request(list), kInvalid, {"limit 10001"}));
  list.state = static_cast<State>(5);
  EXPECT_TRUE(is_error(check_request(list), kInvalid, {"state 5", "scheduled", "remembered"}));
  list.state = State::remembered;
  list.prefix += 'p';
  EXPECT_TRUE(is_error(check_request(list), kTooLarge, {"prefix", "513 bytes", "512"}));

  EXPECT_TRUE(accepted(check_request(ReshardRequest{"q", 256, 0})));
  EXPECT_TRUE(is_error(check_request(ReshardRequest{"q", 0, 0}), kInvalid, {"shards 0", "256"}));
  EXPECT_TRUE(
      is_error(check_request(ReshardRequest{"q", 257, 0}), kInvalid, {"shards 257", "256"}));
  EXPECT_TRUE(accepted(check_request(ForecastRequest{"q", 1ms, 10'000})));
  EXPECT_TRUE(is_error(check_request(ForecastRequest{"q", 0ms, 1}), kInvalid, {"width 0s", "1ms"}));
  EXPECT_TRUE(is_error(check_request(ForecastRequest{"q", 1ms, 0}), kInvalid, {"buckets 0"}));
  EXPECT_TRUE(
      is_error(check_request(ForecastRequest{"q", 1ms, 10'001}), kInvalid, {"buckets 10001"}));

  EXPECT_TRUE(accepted(check_request(PauseRequest{"q", Time(1s)})));
  EXPECT_TRUE(
      is_error(check_request(PauseRequest{"q", Time(-1ms)}), kInvalid, {"until -1 ms", "2200"}));

  ReviveRequest revive{"q", true, {{}}, {}};
  EXPECT_TRUE(is_error(check_request(revive), kInvalid, {"revive of all", "1 keys"}));
  revive = {"q", false, {{0, 1}, {1, 513}}, std::string(514, 'k')};
  EXPECT_TRUE(is_error(check_request(revive), kTooLarge, {"key", "512 bytes"}));
  revive.keys[1].size = 0;
  EXPECT_TRUE(is_error(check_request(revive), kInvalid, {"key", "512"}));
}

}  // namespace
}  // namespace tarry::core
