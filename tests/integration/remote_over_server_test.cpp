// The remote engine and the server, over a real socket: requests and answers pass unchanged, and no
// claimed message is lost between the two.
#include <future>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "engines/remote/remote_engine.h"
#include "server/http/server.h"
#include "support/fake_engine.h"
#include "support/wire_samples.h"
#include "support/wire_text.h"

namespace tarry {
namespace {

using testing::FakeEngine;
using testing::one_claimed;
using testing::text_of;

// One server and one client serve all tests, because they keep no state.
class RemoteOverServer : public ::testing::Test {
 protected:
  void SetUp() override {
    http::ServerOptions options;
    options.port = 0;
    server_ = std::make_unique<http::Server>(behind_, options);
    const auto port = server_->start();
    ASSERT_TRUE(port) << port.error().message;
    remote::RemoteOptions client;
    client.port = *port;
    auto engine = remote::open_remote(client);
    ASSERT_TRUE(engine) << engine.error().message;
    remote_ = std::move(*engine);
  }

  void TearDown() override {
    if (remote_) remote_->close();
    server_->stop();
  }

  std::future<Result<core::Reply>> ask(core::Request request, core::Ticket* ticket = nullptr) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    auto reply = promise->get_future();
    const core::Ticket mine = remote_->submit(
        std::move(request),
        [promise](Result<core::Reply> result) { promise->set_value(std::move(result)); });
    if (ticket != nullptr) *ticket = mine;
    return reply;
  }

  static core::ClaimRequest waiting_claim() {
    core::ClaimRequest claim;
    claim.queues = {"q"};
    claim.wait = Millis(60'000);
    return claim;
  }

  // The next request that reaches the engine behind the server must be a release. Returns its
  // receipts.
  std::string released() {
    auto held = behind_.next();
    const auto* settle = std::get_if<core::SettleRequest>(&held.request);
    if (settle == nullptr) return "another request";
    std::string receipts;
    core::ItemsReply reply;
    for (const auto& item : settle->items) {
      if (item.action != core::SettleAction::release) return "another action";
      receipts += core::view(settle->bytes, item.receipt);
      reply.items.emplace_back();
    }
    held.answer(core::Reply(std::move(reply)));
    return receipts;
  }

  FakeEngine behind_;
  std::unique_ptr<http::Server> server_;
  std::unique_ptr<core::Engine> remote_;
};

core::Reply any_reply_to(const core::Request& request) {
  if (const auto* push = std::get_if<core::PushRequest>(&request)) {
    return testing::any_push_reply(push->items.size());
  }
  if (const auto* move = std::get_if<core::MoveRequest>(&request)) {
    return testing::any_push_reply(move->items.size());
  }
  if (const auto* away = std::get_if<core::CancelRequest>(&request)) {
    core::ItemsReply reply;
    for (std::size_t i = 0; i < away->keys.size(); ++i) {
      reply.items.emplace_back().outcome =
          testing::one_of({Outcome::done, Outcome::kept, Outcome::in_flight, Outcome::unknown});
    }
    return reply;
  }
  if (std::holds_alternative<core::ReshardRequest>(request)) return testing::any_reshard_step();
  if (const auto* claim = std::get_if<core::ClaimRequest>(&request)) {
    core::ClaimReply reply = testing::any_claim_reply();
    reply.settled.resize(claim->settle.items.size());
    return reply;
  }
  if (std::holds_alternative<core::ListRequest>(request)) return testing::any_list_reply();
  if (std::holds_alternative<core::ConfigureRequest>(request)) {
    return core::ConfigureReply{testing::any_settings()};
  }
  return core::CountReply{testing::any_u64()};
}

// Requests that the engine's own checks accept; the wire's tests go beyond these.
core::Request sound_request() {
  switch (*rc::gen::inRange(0, 8)) {
    case 0: {
      core::PushRequest push{"q", {}, {}};
      for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
        core::PushItem item;
        item.key = core::append(push.bytes, testing::any_bytes());
        item.payload = core::append(push.bytes, testing::any_bytes());
        item.headers = core::append(push.bytes, testing::encoded_headers());
        item.due = testing::any_due();
        push.items.push_back(item);
      }
      return push;
    }
    case 1: {
      core::ClaimRequest claim;
      claim.queues = {"a/b", "q"};
      claim.max = *rc::gen::inRange(1u, 100u);
      claim.settle = testing::any_settle_request(*rc::gen::inRange(0, 3));
      return claim;
    }
    case 2: {
      core::ListRequest list;
      list.queue = "a/b:c@d";
      list.after = testing::any_bytes();
      list.prefix = testing::any_bytes();
      return list;
    }
    case 3: {
      core::ConfigureRequest configure{"q", {}};
      configure.patch.lease = testing::maybe_millis();
      return configure;
    }
    case 4: {
      core::MoveRequest move{"a/b", {}, {}};
      for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
        core::MoveItem item;
        item.push = testing::any_push_item(move.bytes);
        item.attempt = testing::any_u32();
        item.tallies = testing::any_tallies();
        item.dead = testing::any_flag();
        item.reason = core::append(move.bytes, testing::any_bytes());
        move.items.push_back(item);
      }
      return move;
    }
    case 5: {
      core::CancelRequest away{"a/b", {}, {}};
      for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
        away.keys.push_back(core::append(away.bytes, testing::any_bytes()));
        away.seen.push_back({testing::any_u64(), testing::any_time().time_since_epoch().count(),
                             testing::any_u32(), testing::any_u32(), testing::any_flag()});
      }
      return away;
    }
    case 6: return core::ReshardRequest{"q", *rc::gen::inRange(1u, 257u), testing::any_u64()};
    default: break;
  }
  return core::PurgeRequest{"$q_-+;().:@"};
}

TEST_F(RemoteOverServer, requests_and_answers_survive_the_way) {
  const bool survived = rc::check([this] {
    const core::Request request = sound_request();
    auto reply = ask(request);
    auto held = behind_.next();
    RC_ASSERT(text_of(held.request) == text_of(request));
    const core::Reply answer = any_reply_to(request);
    held.answer(answer);
    auto result = reply.get();
    if (!result) RC_FAIL(result.error().message);
    RC_ASSERT(text_of(*result) == text_of(answer));
  });
  EXPECT_TRUE(survived);
}

TEST_F(RemoteOverServer, errors_keep_their_code_and_message) {
  for (const ErrorCode code :
       {ErrorCode::invalid_argument, ErrorCode::too_large, ErrorCode::unsupported,
        ErrorCode::not_found, ErrorCode::conflict, ErrorCode::unavailable, ErrorCode::no_space,
        ErrorCode::closed, ErrorCode::unknown_outcome, ErrorCode::damaged, ErrorCode::io_error,
        ErrorCode::permission_denied, ErrorCode::misuse}) {
    auto reply = ask(core::PurgeRequest{"q"});
    const Error error{code, "what \"it\" was: \u00e4"};
    behind_.next().answer(error);
    EXPECT_EQ(reply.get().error(), error);
  }
}

TEST_F(RemoteOverServer, many_at_once) {
  behind_.set_rule([](const core::Request& request) -> std::optional<Result<core::Reply>> {
    const auto& push = std::get<core::PushRequest>(request);
    core::PushReply reply;
    for (const auto& item : push.items) {
      reply.items.push_back({std::nullopt, Outcome::pushed, 1, 1,
                             core::append(reply.bytes, core::view(push.bytes, item.key))});
    }
    return core::Reply(std::move(reply));
  });
  std::vector<std::future<Result<core::Reply>>> replies;
  for (int i = 0; i < 500; ++i) {
    core::PushRequest push{"q", {}, {}};
    core::PushItem item;
    item.key = core::append(push.bytes, std::to_string(i));
    push.items.push_back(item);
    replies.push_back(ask(std::move(push)));
  }
  for (int i = 0; i < 500; ++i) {
    const auto reply = replies[static_cast<std::size_t>(i)].get();
    ASSERT_TRUE(reply) << reply.error().message;
    const auto& pushed = std::get<core::PushReply>(*reply);
    EXPECT_EQ(core::view(pushed.bytes, pushed.items[0].key), std::to_string(i));
  }
}

TEST_F(RemoteOverServer, withdrawing_a_claim_reaches_the_engine_behind) {
  core::Ticket ticket = 0;
  auto reply = ask(waiting_claim(), &ticket);
  auto held = behind_.next();
  remote_->withdraw(ticket);
  EXPECT_TRUE(std::get<core::ClaimReply>(*reply.get()).items.empty());
  behind_.wait_for_withdrawal(held.ticket);
  held.answer(one_claimed("r"));  // the withdrawal came too late
  EXPECT_EQ(released(), "r");
}

// Whether the answer or the withdrawal is quicker, the message is either handed over or released.
TEST_F(RemoteOverServer, a_claim_answered_as_it_is_withdrawn_is_handed_over_or_released) {
  for (int round = 0; round < 200; ++round) {
    core::Ticket ticket = 0;
    auto reply = ask(waiting_claim(), &ticket);
    auto held = behind_.next();
    auto withdrawn = std::async(std::launch::async, [&] { remote_->withdraw(ticket); });
    held.answer(one_claimed("r"));
    withdrawn.get();
    const auto result = reply.get();
    ASSERT_TRUE(result) << result.error().message;
    if (std::get<core::ClaimReply>(*result).items.empty()) {
      ASSERT_EQ(released(), "r") << round;
    }
  }
}

TEST_F(RemoteOverServer, closing_the_client_ends_its_claims_behind) {
  auto reply = ask(waiting_claim());
  auto held = behind_.next();
  auto closed = std::async(std::launch::async, [&] { remote_->close(); });
  EXPECT_EQ(reply.get().error().code, ErrorCode::closed);
  behind_.wait_for_withdrawal(held.ticket);
  held.answer(core::Reply(core::ClaimReply()));
  closed.get();
}

TEST_F(RemoteOverServer, a_drained_server_answers_its_waiting_claims_and_is_gone) {
  auto reply = ask(waiting_claim());
  auto held = behind_.next();
  std::promise<std::size_t> open;
  server_->drain(Millis(60'000), [&](std::size_t n) { open.set_value(n); });
  behind_.wait_for_withdrawal(held.ticket);
  held.answer(core::Reply(core::ClaimReply()));
  // `closed` would mean that this client was closed.
  EXPECT_EQ(reply.get().error().code, ErrorCode::unavailable);
  EXPECT_EQ(open.get_future().get(), 0u);
  EXPECT_EQ(ask(core::PurgeRequest{"q"}).get().error().code, ErrorCode::unavailable);
}

}  // namespace
}  // namespace tarry
