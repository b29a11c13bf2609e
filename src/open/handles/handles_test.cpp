// Store, Queue and Delivery over an engine that only records: their requests, how they read the
// answers, where callbacks run, and how everything ends.
#include <gtest/gtest.h>
#include <tarry/store.h>

#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/rules/headers.h"
#include "open/handles/store_state.h"
#include "support/scripted_engine.h"

namespace tarry {
namespace {

using namespace std::chrono_literals;
using test::ScriptedEngine;

class Handles : public ::testing::Test {
 protected:
  explicit Handles(Executor executor = {}) {
    auto engine = std::make_unique<ScriptedEngine>();
    fake = engine.get();
    store.emplace(
        std::make_shared<detail::StoreState>(std::move(engine), std::move(executor), std::nullopt));
  }

  Queue queue() { return store->queue("orders"); }

  // Runs a blocking verb on another thread, so that the test can be the engine meanwhile.
  template <typename Verb>
  static auto start(Verb verb) {
    return std::async(std::launch::async, std::move(verb));
  }

  ScriptedEngine* fake = nullptr;
  std::optional<Store> store;
};

core::PushReply pushed(std::string_view key, std::uint64_t id) {
  core::PushReply reply;
  core::PushResult& item = reply.items.emplace_back();
  item.key = core::append(reply.bytes, key);
  item.id = id;
  item.due_ms = 1'234;
  return reply;
}

core::ItemsReply items(std::vector<core::ItemResult> results) { return {std::move(results)}; }

core::ItemResult outcome(Outcome what) {
  core::ItemResult item;
  item.outcome = what;
  return item;
}

core::ItemResult failed(ErrorCode code) {
  core::ItemResult item;
  item.error = Error{code, "no"};
  return item;
}

core::ClaimReply two_messages() {
  core::ClaimReply reply;
  for (const std::string& name : {std::string("a"), std::string("b")}) {
    core::ClaimedItem& item = reply.items.emplace_back();
    item.queue = core::append(reply.bytes, "orders");
    item.key = core::append(reply.bytes, "key-" + name);
    item.payload = core::append(reply.bytes, "payload-" + name);
    item.headers = core::append(reply.bytes, *core::encode_headers({{"Type", name}, {"x", ""}}));
    item.receipt = core::append(reply.bytes, "receipt-" + name);
    item.id = 7;
    item.due_ms = 1'000;
    item.claimed_ms = 1'025;
    item.lease_ms = 30'000;
    item.attempt = 2;
    item.priority = 5;
    item.tallies.claims = 3;
  }
  return reply;
}

// -- push

TEST_F(Handles, PushAsksForWhatWasGiven) {
  auto answer = start([q = queue()] {
    return q.push({.key = "order:42",
                   .payload = "body",
                   .due = in(30min),
                   .headers = {{"Type", "order"}},
                   .priority = 3,
                   .if_exists = IfExists::replace,
                   .max_attempts = 9});
  });
  const auto asked = fake->next<core::PushRequest>();
  EXPECT_EQ(asked.request.queue, "orders");
  ASSERT_EQ(asked.request.items.size(), 1u);
  const core::PushItem& item = asked.request.items[0];
  EXPECT_EQ(core::view(asked.request.bytes, item.key), "order:42");
  EXPECT_EQ(core::view(asked.request.bytes, item.payload), "body");
  EXPECT_EQ(core::find_header(core::view(asked.request.bytes, item.headers), "type"), "order");
  EXPECT_EQ(item.due, in(30min));
  EXPECT_EQ(item.priority, 3u);
  EXPECT_EQ(item.if_exists, IfExists::replace);
  EXPECT_EQ(item.max_attempts, 9u);

  fake->answer(asked.ticket, core::Reply(pushed("order:42", 99)));
  const Result<Pushed> result = answer.get();
  ASSERT_TRUE(result);
  EXPECT_EQ(result->outcome, Outcome::pushed);
  EXPECT_EQ(result->id, 99u);
  EXPECT_EQ(result->key, "order:42");
  EXPECT_EQ(result->due, Time(1'234ms));
}

TEST_F(Handles, AnItemsErrorIsTheSingleVerbsError) {
  auto answer = start([q = queue()] { return q.push({.key = "k"}); });
  core::PushReply reply;
  reply.items.emplace_back().error = Error{ErrorCode::no_space, "the disk is full"};
  fake->answer(fake->next<core::PushRequest>().ticket, core::Reply(std::move(reply)));
  const Result<Pushed> result = answer.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), (Error{ErrorCode::no_space, "the disk is full"}));
}

TEST_F(Handles, WhatNoStoreCouldTakeFailsAloneAndTheRestIsAsked) {
  const std::string long_key(core::kMaxKey + 1, 'k');
  const std::string long_payload(core::kMaxMaxPayload + 1, 'p');
  auto answer = start([&, q = queue()] {
    const std::vector<Push> batch = {{.key = "a"},
                                     {.key = long_key},
                                     {.key = "b", .headers = {{"bad name", ""}}},
                                     {.key = "c", .payload = long_payload},
                                     {.key = "d"}};
    return q.push(batch);
  });
  const auto asked = fake->next<core::PushRequest>();
  ASSERT_EQ(asked.request.items.size(), 2u);
  EXPECT_EQ(core::view(asked.request.bytes, asked.request.items[0].key), "a");
  EXPECT_EQ(core::view(asked.request.bytes, asked.request.items[1].key), "d");
  core::PushReply reply = pushed("a", 1);
  reply.items.emplace_back().error = Error{ErrorCode::no_space, "full"};
  fake->answer(asked.ticket, core::Reply(std::move(reply)));

  const auto results = answer.get();
  ASSERT_TRUE(results);
  ASSERT_EQ(results->size(), 5u);
  EXPECT_EQ((*results)[0]->key, "a");
  EXPECT_EQ((*results)[1].error().code, ErrorCode::too_large);
  EXPECT_NE((*results)[1].error().message.find("512"), std::string::npos);
  EXPECT_EQ((*results)[2].error().code, ErrorCode::invalid_argument);
  EXPECT_NE((*results)[2].error().message.find("bad name"), std::string::npos);
  EXPECT_EQ((*results)[3].error().code, ErrorCode::too_large);
  EXPECT_NE((*results)[3].error().message.find("67108865"), std::string::npos);
  EXPECT_EQ((*results)[4].error().code, ErrorCode::no_space);
}

TEST_F(Handles, ABatchOverItsLimitIsRefusedWholeAndNothingIsSent) {
  const std::string big(core::kMaxMaxPayload, 'p');
  const std::vector<std::vector<Push>> batches = {
      std::vector<Push>(core::kMaxBatch + 1),
      std::vector<Push>(3, Push{.key = "k", .payload = big})};
  for (const auto& batch : batches) {
    auto answer = start([&, q = queue()] { return q.push(batch); });
    const auto asked = fake->next<core::PushRequest>();
    EXPECT_TRUE(asked.request.items.empty());
    EXPECT_TRUE(asked.request.bytes.empty());
    fake->answer(asked.ticket, core::Reply(core::PushReply{}));
    const auto results = answer.get();
    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().code, ErrorCode::too_large);
    EXPECT_NE(results.error().message.find("is over the limit of"), std::string::npos);
  }
}

TEST_F(Handles, AnAnswerThatComesUpShortIsAnUnknownOutcome) {
  auto answer = start([q = queue()] {
    const std::vector<std::string_view> keys = {"a", "b"};
    return q.cancel(keys);
  });
  fake->answer(fake->next<core::CancelRequest>().ticket,
               core::Reply(items({outcome(Outcome::cancelled)})));
  const auto results = answer.get();
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0]->outcome, Outcome::cancelled);
  EXPECT_EQ((*results)[1].error().code, ErrorCode::unknown_outcome);
}

// -- the other verbs, one by one

TEST_F(Handles, CancelRescheduleGet) {
  auto cancel = start([q = queue()] { return q.cancel("k"); });
  const auto cancelled = fake->next<core::CancelRequest>();
  EXPECT_EQ(core::view(cancelled.request.bytes, cancelled.request.keys.at(0)), "k");
  core::ItemResult settled = outcome(Outcome::settled);
  settled.settlement = Settlement{Ending::acked, Time(5ms)};
  fake->answer(cancelled.ticket, core::Reply(items({settled})));
  const auto cancel_answer = cancel.get();
  ASSERT_TRUE(cancel_answer);
  EXPECT_EQ(*cancel_answer, Outcome::settled);
  EXPECT_EQ(cancel_answer->settlement->when, Time(5ms));

  auto reschedule = start([q = queue()] { return q.reschedule("k", in(1h)); });
  const auto rescheduled = fake->next<core::RescheduleRequest>();
  EXPECT_EQ(rescheduled.request.items.at(0).due, in(1h));
  core::ItemResult moved = outcome(Outcome::rescheduled);
  moved.due_ms = 77;
  fake->answer(rescheduled.ticket, core::Reply(items({moved})));
  EXPECT_EQ(reschedule.get()->due, Time(77ms));

  auto get = start([q = queue()] { return q.get("k"); });
  const auto got = fake->next<core::GetRequest>();
  EXPECT_TRUE(got.request.with_payload);
  fake->answer(got.ticket, core::Reply(core::GetReply{{Error{ErrorCode::not_found, "no k"}}}));
  EXPECT_EQ(get.get().error().code, ErrorCode::not_found);
}

TEST_F(Handles, BadKeysAndReceiptsAreRefusedInOrder) {
  auto answer = start([q = queue()] {
    const std::vector<Reschedule> batch = {{.key = ""}, {.key = "k", .due = in(1s), .priority = 4}};
    return q.reschedule(batch);
  });
  const auto asked = fake->next<core::RescheduleRequest>();
  ASSERT_EQ(asked.request.items.size(), 1u);
  EXPECT_EQ(asked.request.items[0].priority, 4u);
  fake->answer(asked.ticket, core::Reply(items({outcome(Outcome::rescheduled)})));
  const auto results = answer.get();
  EXPECT_EQ((*results)[0].error().code, ErrorCode::invalid_argument);
  EXPECT_EQ((*results)[1]->outcome, Outcome::rescheduled);

  auto settle = start([q = queue()] { return q.bury("r", std::string(256, 'x')); });
  const auto settled = fake->next<core::SettleRequest>();
  EXPECT_TRUE(settled.request.items.empty());
  fake->answer(settled.ticket, core::Reply(core::ItemsReply{}));
  EXPECT_EQ(settle.get().error().code, ErrorCode::too_large);
}

TEST_F(Handles, ClaimHandsOutDeliveriesThatShareTheReply) {
  auto claim = start(
      [q = queue()] { return q.claim({.max = 5, .max_bytes = 100, .lease = 9s, .wait = 20s}); });
  const auto asked = fake->next<core::ClaimRequest>();
  EXPECT_EQ(asked.request.queues, std::vector<std::string>{"orders"});
  EXPECT_EQ(asked.request.max, 5u);
  EXPECT_EQ(asked.request.max_bytes, 100u);
  EXPECT_EQ(asked.request.lease, Millis(9s));
  EXPECT_EQ(asked.request.wait, Millis(20s));
  fake->answer(asked.ticket, core::Reply(two_messages()));
  auto claimed = claim.get();
  ASSERT_TRUE(claimed);
  ASSERT_EQ(claimed->size(), 2u);
  const Delivery second = (*claimed)[1];
  claimed->clear();
  EXPECT_EQ(second.queue(), "orders");
  EXPECT_EQ(second.id(), 7u);
  EXPECT_EQ(second.key(), "key-b");
  EXPECT_EQ(second.payload(), "payload-b");
  EXPECT_EQ(second.headers(), (Headers{{"Type", "b"}, {"x", ""}}));
  EXPECT_EQ(second.header("type"), "b");
  EXPECT_EQ(second.header("none"), std::nullopt);
  EXPECT_EQ(second.due(), Time(1s));
  EXPECT_EQ(second.claimed_at(), Time(1'025ms));
  EXPECT_EQ(second.lateness(), 25ms);
  EXPECT_EQ(second.lease(), 30s);
  EXPECT_EQ(second.attempt(), 2u);
  EXPECT_EQ(second.priority(), 5u);
  EXPECT_EQ(second.tallies().claims, 3u);
  EXPECT_EQ(second.receipt(), "receipt-b");
}

TEST_F(Handles, TheSettlingVerbs) {
  struct Case {
    std::function<Result<Answer>(const Queue&)> verb;
    core::SettleAction action;
    std::optional<Millis> delay;
    std::string_view reason;
  };
  for (const Case& each :
       {Case{[](const Queue& q) { return q.ack("r"); }, core::SettleAction::ack, {}, ""},
        Case{[](const Queue& q) { return q.retry("r"); }, core::SettleAction::retry, {}, ""},
        Case{[](const Queue& q) { return q.retry("r", 3s); }, core::SettleAction::retry, 3s, ""},
        Case{[](const Queue& q) { return q.release("r"); }, core::SettleAction::release, {}, ""},
        Case{[](const Queue& q) { return q.bury("r", "why"); },
             core::SettleAction::bury,
             {},
             "why"}}) {
    auto answer = start([&, q = queue()] { return each.verb(q); });
    const auto asked = fake->next<core::SettleRequest>();
    const core::SettleItem& item = asked.request.items.at(0);
    EXPECT_EQ(core::view(asked.request.bytes, item.receipt), "r");
    EXPECT_EQ(item.action, each.action);
    EXPECT_EQ(item.delay, each.delay);
    EXPECT_EQ(core::view(asked.request.bytes, item.reason), each.reason);
    fake->answer(asked.ticket, core::Reply(items({outcome(Outcome::stale)})));
    EXPECT_EQ(*answer.get(), Outcome::stale);
  }
  auto extend = start([q = queue()] { return q.extend("r", 5s); });
  const auto asked = fake->next<core::ExtendRequest>();
  EXPECT_EQ(asked.request.items.at(0).lease, Millis(5s));
  fake->answer(asked.ticket, core::Reply(items({failed(ErrorCode::unsupported)})));
  EXPECT_EQ(extend.get().error().code, ErrorCode::unsupported);
}

TEST_F(Handles, VerbsOfTheWholeQueue) {
  auto stats = start([q = queue()] { return q.stats(); });
  const auto stats_asked = fake->next<core::StatsRequest>();
  EXPECT_EQ(stats_asked.request.queue, "orders");
  StoreStats figures;
  figures.queues.resize(2);
  figures.queues[1].queue = "orders";
  figures.queues[1].ready = 4;
  fake->answer(stats_asked.ticket, core::Reply(figures));
  EXPECT_EQ(stats.get()->ready, 4u);

  auto none = start([q = queue()] { return q.stats(); });
  fake->answer(fake->next<core::StatsRequest>().ticket, core::Reply(StoreStats{}));
  const auto no_queue = none.get();
  EXPECT_EQ(no_queue.error().code, ErrorCode::not_found);
  EXPECT_NE(no_queue.error().message.find("\"orders\""), std::string::npos);

  auto list = start([q = queue()] {
    return q.list({.state = State::dead, .after = "x", .limit = 7, .prefix = "o:"});
  });
  const auto listed = fake->next<core::ListRequest>();
  EXPECT_EQ(listed.request.state, State::dead);
  EXPECT_EQ(listed.request.after, "x");
  EXPECT_EQ(listed.request.prefix, "o:");
  EXPECT_EQ(listed.request.limit, 7u);
  core::ListReply page;
  page.messages.resize(2);
  page.next = "y";
  fake->answer(listed.ticket, core::Reply(page));
  const auto listing = list.get();
  EXPECT_EQ(listing->messages.size(), 2u);
  EXPECT_EQ(listing->next, "y");

  auto configure = start([q = queue()] { return q.configure({.lease = 3s}); });
  const auto configured = fake->next<core::ConfigureRequest>();
  EXPECT_EQ(configured.request.patch.lease, Millis(3s));
  core::ConfigureReply settings;
  settings.settings.lease = 3s;
  fake->answer(configured.ticket, core::Reply(settings));
  EXPECT_EQ(configure.get()->lease, 3s);

  auto pause = start([q = queue()] { return q.pause(Time(9s)); });
  const auto paused = fake->next<core::PauseRequest>();
  EXPECT_EQ(paused.request.until, Time(9s));
  fake->answer(paused.ticket, core::Reply(core::CountReply{}));
  EXPECT_TRUE(pause.get());

  auto resume = start([q = queue()] { return q.resume(); });
  fake->answer(fake->next<core::ResumeRequest>().ticket, Error{ErrorCode::io_error, "no"});
  EXPECT_EQ(resume.get().error().code, ErrorCode::io_error);

  auto purge = start([q = queue()] { return q.purge(); });
  fake->answer(fake->next<core::PurgeRequest>().ticket, core::Reply(core::CountReply{3}));
  EXPECT_EQ(*purge.get(), 3u);

  auto reshard = start([q = queue()] { return q.reshard(4, 17); });
  const auto resharded = fake->next<core::ReshardRequest>();
  EXPECT_EQ(resharded.request.shards, 4u);
  EXPECT_EQ(resharded.request.turn, 17u);
  fake->answer(resharded.ticket, core::Reply(ReshardStep{.turn = 18, .moved = 5}));
  EXPECT_EQ(reshard.get()->moved, 5u);
}

TEST_F(Handles, StatsOfAQueueWithoutANameAreNotThoseOfTheStore) {
  auto answer = start([q = store->queue("")] { return q.stats(); });
  fake->answer(fake->next<core::StatsRequest>().ticket, core::Reply(StoreStats{}));
  EXPECT_EQ(answer.get().error().code, ErrorCode::invalid_argument);
}

TEST_F(Handles, ReviveOfSomeAndOfAll) {
  auto all = start([q = queue()] { return q.revive(); });
  const auto all_asked = fake->next<core::ReviveRequest>();
  EXPECT_TRUE(all_asked.request.all);
  fake->answer(all_asked.ticket, core::Reply(core::CountReply{8}));
  EXPECT_EQ(*all.get(), 8u);

  const auto revive = [&](const std::vector<std::string_view>& keys) {
    return start([q = queue(), keys] { return q.revive(keys); });
  };
  auto some = revive({"a", "b"});
  const auto some_asked = fake->next<core::ReviveRequest>();
  EXPECT_FALSE(some_asked.request.all);
  EXPECT_EQ(some_asked.request.keys.size(), 2u);
  fake->answer(some_asked.ticket, core::Reply(core::CountReply{1}));
  EXPECT_EQ(*some.get(), 1u);

  auto bad = revive({"a", ""});
  const auto bad_asked = fake->next<core::ReviveRequest>();
  EXPECT_FALSE(bad_asked.request.all);
  EXPECT_TRUE(bad_asked.request.keys.empty());
  fake->answer(bad_asked.ticket, core::Reply(core::CountReply{0}));
  EXPECT_EQ(bad.get().error().code, ErrorCode::invalid_argument);
}

TEST_F(Handles, VerbsOfTheStore) {
  auto claim = start([s = *store] {
    const std::vector<std::string_view> queues = {"a", "b"};
    return s.claim(queues, {.max = 2});
  });
  const auto claimed = fake->next<core::ClaimRequest>();
  EXPECT_EQ(claimed.request.queues, (std::vector<std::string>{"a", "b"}));
  fake->answer(claimed.ticket, core::Reply(core::ClaimReply{}));
  EXPECT_TRUE(claim.get()->empty());

  auto stats = start([s = *store] { return s.stats(); });
  StoreStats figures;
  figures.engine = "fake";
  fake->answer(fake->next<core::StatsRequest>().ticket, core::Reply(figures));
  EXPECT_EQ(stats.get()->engine, "fake");
}

// -- threads

TEST_F(Handles, CallbacksRunOnAThreadOfTheEngineWhereBlockingIsMisuse) {
  struct Seen {
    std::thread::id thread;
    ErrorCode blocking{};
    Outcome outcome{};
  };
  std::promise<Seen> seen;
  queue().cancel("k", [&](const Result<Answer>& answer) {
    const auto blocking = queue().cancel("l");
    seen.set_value({std::this_thread::get_id(), blocking.error().code, answer->outcome});
  });
  fake->answer(fake->next<core::CancelRequest>().ticket,
               core::Reply(items({outcome(Outcome::unknown)})));
  const Seen result = seen.get_future().get();
  EXPECT_EQ(result.thread, fake->thread());
  EXPECT_EQ(result.blocking, ErrorCode::misuse);
  EXPECT_EQ(result.outcome, Outcome::unknown);
  EXPECT_EQ(fake->untaken(), 0u);
}

TEST_F(Handles, AnEmptyCallbackDropsTheAnswer) {
  queue().push({.key = "k"}, nullptr);
  fake->answer(fake->next<core::PushRequest>().ticket, core::Reply(pushed("k", 1)));
  auto after = start([q = queue()] { return q.purge(); });
  fake->answer(fake->next<core::PurgeRequest>().ticket, core::Reply(core::CountReply{0}));
  EXPECT_TRUE(after.get());
}

class HandlesWithExecutor : public Handles {
 protected:
  HandlesWithExecutor()
      : Handles([this](std::function<void()> task) { tasks.set_value(std::move(task)); }) {}
  std::promise<std::function<void()>> tasks;
};

TEST_F(HandlesWithExecutor, CallbacksRunWhereTheUserSaysAndMayBlockThere) {
  std::optional<std::uint64_t> count;
  std::optional<Result<std::uint64_t>> blocking;
  queue().purge([&](const Result<std::uint64_t>& answer) {
    count = *answer;
    blocking = queue().purge();
  });
  fake->answer(fake->next<core::PurgeRequest>().ticket, core::Reply(core::CountReply{3}));
  const std::function<void()> task = tasks.get_future().get();
  EXPECT_FALSE(count);
  auto engine = start([&] {
    fake->answer(fake->next<core::PurgeRequest>().ticket, core::Reply(core::CountReply{4}));
  });
  task();
  engine.get();
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(**blocking, 4u);
}

// -- the end

TEST_F(Handles, CloseCompletesWhatIsOutstandingAndHandlesOutliveIt) {
  const Queue q = queue();
  auto waiting = start([q] { return q.claim({.wait = 1h}); });
  const auto asked = fake->next<core::ClaimRequest>();
  store->close();
  EXPECT_EQ(waiting.get().error().code, ErrorCode::closed);
  store->close();
  EXPECT_EQ(q.push({.key = "k"}).error().code, ErrorCode::closed);
  EXPECT_EQ(store->stats().error().code, ErrorCode::closed);
  store.reset();
  EXPECT_EQ(q.push({.key = "k"}).error().code, ErrorCode::closed);
}

TEST_F(Handles, TheLastCopyOfTheStoreClosesItThoughQueuesLiveOn) {
  const Queue q = queue();
  std::optional<Store> copy = store;
  store.reset();
  EXPECT_FALSE(fake->closed());
  std::optional<Store> moved = std::exchange(copy, std::nullopt);
  EXPECT_FALSE(fake->closed());
  moved.reset();
  EXPECT_TRUE(fake->closed());
  EXPECT_EQ(q.purge().error().code, ErrorCode::closed);
}

TEST_F(Handles, DroppingTheLastStoreAnswersClosed) {
  const Queue q = queue();
  auto waiting = start([q] { return q.claim({.wait = 1h}); });
  (void)fake->next<core::ClaimRequest>();
  store.reset();
  EXPECT_TRUE(fake->closed());
  EXPECT_EQ(waiting.get().error().code, ErrorCode::closed);
  EXPECT_EQ(q.purge().error().code, ErrorCode::closed);
}

TEST_F(Handles, ACallbackMayCloseTheStoreOrDropItsLastHandle) {
  auto watched = start([q = queue()] { return q.claim({.wait = 1h}); });
  (void)fake->next<core::ClaimRequest>();
  auto last = std::make_shared<Store>(*std::exchange(store, std::nullopt));
  const Queue q = last->queue("orders");
  q.purge([last](const Result<std::uint64_t>&) { last->close(); });
  const core::Ticket ticket = fake->next<core::PurgeRequest>().ticket;
  last.reset();
  fake->answer(ticket, core::Reply(core::CountReply{0}));
  // The engine is closed by another thread, after that callback has returned.
  EXPECT_EQ(watched.get().error().code, ErrorCode::closed);
}

TEST_F(Handles, CallbacksStillOutstandingAtCloseAreToldSo) {
  std::promise<ErrorCode> told;
  queue().purge([&](const Result<std::uint64_t>& answer) { told.set_value(answer.error().code); });
  (void)fake->next<core::PurgeRequest>();
  store->close();
  EXPECT_EQ(told.get_future().get(), ErrorCode::closed);
}

}  // namespace
}  // namespace tarry
