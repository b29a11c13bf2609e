// The remote engine against a server that the test itself plays, byte for byte.
#include "engines/remote/remote_engine.h"

#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include "support/certificates.h"
#include "support/raw_server.h"
#include "wire/claim.h"
#include "wire/parts/items.h"
#include "wire/push.h"
#include "wire/service.h"
#include "wire/stats.h"

namespace tarry::remote {
namespace {

using tarry::testing::RawConnection;

class RemoteEngineTest : public ::testing::Test {
 protected:
  struct Asked {
    core::Ticket ticket = 0;
    std::future<Result<core::Reply>> reply;
  };

  // Opens the engine. Returns the connection on which it asked for /healthz, and which it keeps.
  RawConnection open(std::uint32_t connections = 1, std::int64_t timeout_ms = 60'000) {
    RemoteOptions options;
    options.port = server_.port();
    options.connections = connections;
    options.request_timeout_ms = timeout_ms;
    auto opening = std::async(std::launch::async, [&] { return open_remote(options); });
    RawConnection connection = server_.accept();
    EXPECT_EQ(connection.receive().target, "/healthz");
    wire::Health health;
    health.capabilities.engine = "embedded";
    health.capabilities.durable = true;
    health.capabilities.joins = server_joins_;
    connection.answer(wire::encode_health(health));
    auto engine = opening.get();
    EXPECT_TRUE(engine) << engine.error().message;
    if (engine) engine_ = std::move(*engine);
    return connection;
  }

  Asked ask(core::Request request) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    Asked asked;
    asked.reply = promise->get_future();
    asked.ticket = engine_->submit(std::move(request), [promise](Result<core::Reply> reply) {
      EXPECT_TRUE(core::on_engine_thread());
      promise->set_value(std::move(reply));
    });
    return asked;
  }

  static core::PushRequest push(std::string_view key) {
    core::PushRequest request{"q", {}, {}};
    core::PushItem item;
    item.key = core::append(request.bytes, key);
    request.items.push_back(item);
    return request;
  }

  static core::ClaimRequest claim(std::int64_t wait_ms) {
    core::ClaimRequest request;
    request.queues = {"q"};
    request.wait = Millis(wait_ms);
    return request;
  }

  static core::ClaimRequest settle_and_claim(std::int64_t wait_ms) {
    core::ClaimRequest request = claim(wait_ms);
    request.settle.items.emplace_back().receipt = core::append(request.settle.bytes, "r");
    return request;
  }

  static std::string claimed(std::string_view receipt) {
    core::ClaimReply reply;
    core::ClaimedItem item;
    item.queue = core::append(reply.bytes, "q");
    item.key = core::append(reply.bytes, "k");
    item.receipt = core::append(reply.bytes, receipt);
    item.id = 1;
    reply.items.push_back(item);
    return wire::encode_claim_reply(reply);
  }

  static std::string receipts_released(const net::HttpMessage& request) {
    if (request.target != "/v1/settle") return "asked " + request.target;
    const auto settle = wire::decode_settle(request.body);
    if (!settle) return settle.error().message;
    std::string receipts;
    for (const auto& item : settle->request.items) {
      if (item.action != core::SettleAction::release) return "another action";
      receipts += core::view(settle->request.bytes, item.receipt);
    }
    return receipts;
  }

  static constexpr const char* kDone = R"({"results":[{"outcome":"done"}]})";

  const std::thread::id caller_ = std::this_thread::get_id();
  testing::RawServer server_;
  bool server_joins_ = true;
  std::unique_ptr<core::Engine> engine_;
};

TEST_F(RemoteEngineTest, opens_what_is_a_tarry_server_only) {
  RemoteOptions options;
  options.port = server_.port();
  for (const char* body : {"hello", "{}", R"({"service":"nginx"})"}) {
    auto opening = std::async(std::launch::async, [&] { return open_remote(options); });
    RawConnection connection = server_.accept();
    connection.receive();
    connection.answer(body);
    const auto engine = opening.get();
    ASSERT_FALSE(engine);
    EXPECT_EQ(engine.error().code, ErrorCode::invalid_argument);
    EXPECT_EQ(
        engine.error().message.find("what answers at http://127.0.0.1:" +
                                    std::to_string(server_.port()) + " is not a tarry server: "),
        0u);
  }
  server_.close();
  const auto engine = open_remote(options);
  ASSERT_FALSE(engine);
  EXPECT_EQ(engine.error().code, ErrorCode::unavailable);
  EXPECT_NE(engine.error().message.find("Connection refused"), std::string::npos);
}

TEST_F(RemoteEngineTest, opens_a_server_over_tls_whose_certificate_checks) {
  const testing::Certificates files;
  testing::RawServer server(testing::server_tls(files.certificate("server"), files.key("server")));
  RemoteOptions options;
  options.port = server.port();
  options.tls = net::TlsOptions{files.certificate("ca"), {}, {}, {}};
  const auto try_to_open = [&](std::string_view answer) {
    auto opening = std::async(std::launch::async, [&] { return open_remote(options); });
    RawConnection connection = server.accept();
    connection.receive();
    connection.answer(answer);
    return opening.get();
  };
  EXPECT_TRUE(try_to_open(wire::encode_health({})));
  const std::string at = "127.0.0.1:" + std::to_string(server.port());
  EXPECT_EQ(try_to_open("hello").error().message.find("what answers at https://" + at), 0u);
  // Another attempt would fail too, so this is not `unavailable`.
  options.tls->server_name = "shop.example";
  const auto refused = try_to_open("");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(refused.error().message.find("no TLS with " + at + ": its certificate is for "), 0u);
}

TEST_F(RemoteEngineTest, can_what_the_server_can) {
  const RawConnection connection = open();
  EXPECT_EQ(engine_->capabilities().engine, "remote");
  EXPECT_TRUE(engine_->capabilities().durable);
  EXPECT_FALSE(engine_->capabilities().manual_clock);
  EXPECT_TRUE(engine_->capabilities().moves);
  EXPECT_EQ(engine_->capabilities().served, "embedded");
}

TEST_F(RemoteEngineTest, takes_it_that_a_server_which_does_not_say_so_moves_nothing) {
  const auto old = wire::decode_health(R"({"service":"tarry","engine":"embedded","by_key":true})");
  ASSERT_TRUE(old);
  EXPECT_FALSE(old->capabilities.moves);
}

TEST_F(RemoteEngineTest, asks_the_server_and_reads_its_answer) {
  RawConnection connection = open();
  auto asked = ask(push("k"));
  const auto request = connection.receive();
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.target, "/v1/queues/q/messages");
  EXPECT_EQ(*request.find("Content-Type"), "application/json");
  EXPECT_EQ(request.body, R"({"messages":[{"key":"k","delay_ms":0}]})");
  connection.answer(
      R"({"results":[{"outcome":"exists","id":"18446744073709551615","key":"k","due_ms":5}]})");
  const auto reply = asked.reply.get();
  ASSERT_TRUE(reply) << reply.error().message;
  const auto& pushed = std::get<core::PushReply>(*reply);
  EXPECT_EQ(pushed.items[0].outcome, Outcome::exists);
  EXPECT_EQ(pushed.items[0].id, 18'446'744'073'709'551'615u);
  EXPECT_EQ(pushed.items[0].due_ms, 5);
}

TEST_F(RemoteEngineTest, says_who_answers_in_its_figures) {
  RawConnection connection = open();
  auto asked = ask(core::StatsRequest{"q"});
  const auto request = connection.receive();
  EXPECT_EQ(request.method + " " + request.target, "GET /v1/stats?queue=q");
  StoreStats stats;
  stats.engine = "embedded";
  connection.answer(wire::encode_store_stats(stats));
  const StoreStats told = std::get<StoreStats>(*asked.reply.get());
  EXPECT_EQ(told.engine, "remote");
  EXPECT_EQ(told.served, "embedded");
  // The server's store is another server.
  asked = ask(core::StatsRequest{});
  (void)connection.receive();
  connection.answer(wire::encode_store_stats(told));
  EXPECT_EQ(std::get<StoreStats>(*asked.reply.get()).served, "embedded");
}

TEST_F(RemoteEngineTest, refuses_itself_what_no_server_would_take) {
  const RawConnection connection = open();
  EXPECT_EQ(ask(core::PurgeRequest{"no name"}).reply.get().error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(ask(core::ForecastRequest{"q", Millis(0), 1}).reply.get().error().code,
            ErrorCode::invalid_argument);
}

TEST_F(RemoteEngineTest, gives_the_servers_errors_their_codes_back) {
  RawConnection connection = open();
  auto full = ask(push("k"));
  connection.receive();
  connection.answer(R"({"status":503,"detail":"no room","code":"no_space"})",
                    "503 Service Unavailable");
  EXPECT_EQ(full.reply.get().error(), (Error{ErrorCode::no_space, "no room"}));
  auto proxy = ask(push("k"));
  connection.receive();
  connection.answer("<html>", "502 Bad Gateway");
  EXPECT_EQ(proxy.reply.get().error().code, ErrorCode::unknown_outcome);
}

TEST_F(RemoteEngineTest, an_answer_that_nobody_of_ours_gives_is_in_doubt_where_something_changes) {
  RawConnection connection = open();
  for (const char* status : {"202 Accepted", "307 Temporary Redirect", "502 Bad Gateway"}) {
    auto changes = ask(push("k"));
    connection.receive();
    connection.answer("<html>", status);
    EXPECT_EQ(changes.reply.get().error().code, ErrorCode::unknown_outcome) << status;
    auto reads = ask(core::StatsRequest{});
    connection.receive();
    connection.answer("<html>", status);
    EXPECT_EQ(reads.reply.get().error().code, ErrorCode::unavailable) << status;
  }
}

TEST_F(RemoteEngineTest, says_that_a_server_is_older_where_it_does_not_know_the_route) {
  RawConnection connection = open();
  core::MoveRequest move{"q", {}, {}};
  move.items.emplace_back();
  auto unknown = ask(move);
  EXPECT_EQ(connection.receive().target, "/v1/queues/q/import");
  connection.answer(
      R"({"status":404,"detail":"there is no \"/v1/queues/q/import\" here","code":"not_found"})",
      "404 Not Found");
  const Error older = unknown.reply.get().error();
  EXPECT_EQ(older.code, ErrorCode::unsupported);
  EXPECT_EQ(older.message,
            "the server cannot do this, it is older than this program: there is no "
            "\"/v1/queues/q/import\" here");
  auto method = ask(core::RemoveRequest{"q"});
  connection.receive();
  connection.answer(R"({"status":405,"detail":"the method \"DELETE\" is not one of: GET, PUT",)"
                    R"("code":"invalid_argument"})",
                    "405 Method Not Allowed");
  EXPECT_EQ(method.reply.get().error().code, ErrorCode::unsupported);
  // If a proxy refuses the request, the error is another one.
  for (const char* body :
       {"<html>", R"({"status":405,"detail":"no DELETE","code":"invalid_argument"})"}) {
    auto between = ask(core::RemoveRequest{"q"});
    connection.receive();
    connection.answer(body, "405 Method Not Allowed");
    EXPECT_EQ(between.reply.get().error().code, ErrorCode::invalid_argument) << body;
  }
  // The engine's own `not_found` stays what it is.
  auto nothing = ask(core::ReshardRequest{"none", 2, 0});
  EXPECT_EQ(connection.receive().target, "/v1/queues/none/reshard");
  connection.answer(R"({"status":404,"detail":"there is no queue \"none\"","code":"not_found"})",
                    "404 Not Found");
  EXPECT_EQ(nothing.reply.get().error(),
            (Error{ErrorCode::not_found, "there is no queue \"none\""}));
}

TEST_F(RemoteEngineTest, a_lost_answer_is_in_doubt_only_where_something_was_to_change) {
  RawConnection first = open();
  auto lost = ask(push("k"));
  first.receive();
  first.close();
  EXPECT_EQ(lost.reply.get().error().code, ErrorCode::unknown_outcome);

  auto read = ask(core::StatsRequest{});
  RawConnection second = server_.accept();
  second.receive();
  second.close();
  EXPECT_EQ(read.reply.get().error().code, ErrorCode::unavailable);

  auto garbled = ask(push("k"));
  RawConnection third = server_.accept();
  third.receive();
  third.answer(R"({"results":[]})");
  EXPECT_EQ(garbled.reply.get().error(),
            (Error{ErrorCode::unknown_outcome,
                   "the server's answer cannot be read: 0 results for 1 items"}));
  third.close();

  server_.close();
  const auto refused = ask(push("k")).reply.get();
  EXPECT_EQ(refused.error().code, ErrorCode::unavailable);
}

TEST_F(RemoteEngineTest, a_waiting_claim_stands_in_nobodys_way) {
  RawConnection connection = open();
  auto waiting = ask(claim(60'000));
  EXPECT_EQ(connection.receive().target, "/v1/claim");
  auto pushed = ask(push("k"));
  RawConnection other = server_.accept();
  EXPECT_EQ(other.receive().target, "/v1/queues/q/messages");
  other.answer(R"({"results":[{"outcome":"pushed","id":"1","key":"k","due_ms":5}]})");
  EXPECT_TRUE(pushed.reply.get());
  connection.answer(claimed("r"));
  EXPECT_EQ(std::get<core::ClaimReply>(*waiting.reply.get()).items.size(), 1u);
}

TEST_F(RemoteEngineTest, leases_count_from_the_request_however_late_the_answer_comes) {
  RawConnection connection = open();
  const auto before = base::BootClock::now();
  auto waiting = ask(claim(60'000));
  connection.receive();
  const auto received = base::BootClock::now();
  std::string body = claimed("r");
  body.insert(body.size() - 1, R"(,"waited_ms":1000)");
  connection.answer(body);
  const auto reply = waiting.reply.get();
  ASSERT_TRUE(reply);
  const auto begun = std::get<core::ClaimReply>(*reply).begun_at;
  ASSERT_TRUE(begun);
  EXPECT_GE(*begun, before + Millis(1'000));
  EXPECT_LE(*begun, received + Millis(1'000));
}

TEST_F(RemoteEngineTest, a_claim_has_its_wait_on_top_of_the_time_out) {
  RawConnection connection = open(1, 20);
  auto late = ask(claim(1));
  connection.receive();
  EXPECT_EQ(late.reply.get().error().code, ErrorCode::unknown_outcome);
  EXPECT_TRUE(connection.wait_for_end());
}

// A connection may die silently while the server is well. Then the request must have time left to
// use another one.
TEST_F(RemoteEngineTest, an_extension_leaves_time_for_another_one) {
  RawConnection connection = open(1, 3'600'000);
  auto busy = ask(push("k"));
  EXPECT_EQ(connection.receive().target, "/v1/queues/q/messages");
  core::ExtendRequest extend;
  extend.items.push_back({core::append(extend.bytes, "r"), Millis(1)});
  auto lost = ask(extend);
  RawConnection mute = server_.accept();
  EXPECT_EQ(mute.receive().target, "/v1/extend");
  EXPECT_EQ(lost.reply.get().error().code, ErrorCode::unknown_outcome);
  auto again = ask(extend);
  RawConnection other = server_.accept();
  other.receive();
  other.answer(kDone);
  EXPECT_TRUE(again.reply.get());
}

TEST_F(RemoteEngineTest, a_settlement_does_not_stand_behind_what_died_on_its_way) {
  RawConnection connection = open(1, 20'000);
  auto dead = ask(push("k"));
  EXPECT_EQ(connection.receive().target, "/v1/queues/q/messages");
  core::SettleRequest settle;
  settle.items.emplace_back().receipt = core::append(settle.bytes, "r");
  auto settled = ask(settle);
  RawConnection other = server_.accept();
  EXPECT_EQ(other.receive().target, "/v1/settle");
  other.answer(kDone);
  EXPECT_TRUE(settled.reply.get());
}

TEST_F(RemoteEngineTest, settles_and_claims_in_one_request) {
  RawConnection connection = open(1, 20'000);
  auto dead = ask(push("k"));
  EXPECT_EQ(connection.receive().target, "/v1/queues/q/messages");
  auto both = ask(settle_and_claim(0));  // does not stand behind what died, as a settle
  RawConnection other = server_.accept();
  const auto request = other.receive();
  EXPECT_EQ(request.target, "/v1/claim");
  const auto decoded = wire::decode_claim(request.body);
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->request.settle.items.size(), 1u);
  other.answer(R"({"messages":[],"settled":[{"outcome":"stale"}]})");
  const auto reply = both.reply.get();
  ASSERT_TRUE(reply);
  const auto& settled = std::get<core::ClaimReply>(*reply).settled;
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_EQ(settled[0].outcome, Outcome::stale);
}

TEST_F(RemoteEngineTest, an_older_server_gets_two_requests) {
  server_joins_ = false;
  RawConnection connection = open();
  auto both = ask(settle_and_claim(60'000));
  RawConnection other = server_.accept();
  const auto first = connection.receive();
  const auto second = other.receive();
  const bool in_order = first.target == "/v1/settle";
  EXPECT_EQ(in_order ? second.target : first.target, "/v1/claim");
  EXPECT_EQ((in_order ? second : first).body.find("settle"), std::string::npos);
  (in_order ? connection : other).answer(kDone);
  (in_order ? other : connection).answer(claimed("next"));
  const auto reply = both.reply.get();
  ASSERT_TRUE(reply);
  EXPECT_EQ(std::get<core::ClaimReply>(*reply).settled.at(0).outcome, Outcome::done);
  EXPECT_EQ(std::get<core::ClaimReply>(*reply).items.size(), 1u);
}

TEST_F(RemoteEngineTest, a_withdrawn_claim_does_not_know_whether_it_has_settled) {
  RawConnection connection = open();
  auto both = ask(settle_and_claim(60'000));
  connection.receive();
  engine_->withdraw(both.ticket);
  const auto reply = both.reply.get();
  ASSERT_TRUE(reply);
  const auto& settled = std::get<core::ClaimReply>(*reply).settled;
  ASSERT_EQ(settled.size(), 1u);
  EXPECT_EQ(settled[0].error->code, ErrorCode::unknown_outcome);
  EXPECT_TRUE(connection.wait_for_end());
}

TEST_F(RemoteEngineTest, withdrawing_ends_a_claim_at_once_and_releases_what_was_on_its_way) {
  RawConnection connection = open();
  auto waiting = ask(claim(60'000));
  connection.receive();
  engine_->withdraw(waiting.ticket);
  EXPECT_TRUE(std::get<core::ClaimReply>(*waiting.reply.get()).items.empty());
  EXPECT_TRUE(connection.wait_for_end());
  connection.answer(claimed("r"));
  RawConnection other = server_.accept();
  EXPECT_EQ(receipts_released(other.receive()), "r");
  other.answer(kDone);
}

TEST_F(RemoteEngineTest, withdrawing_what_is_no_claim_or_gone_does_nothing) {
  RawConnection connection = open();
  auto pushed = ask(push("k"));
  connection.receive();
  engine_->withdraw(pushed.ticket);
  engine_->withdraw(0);
  engine_->withdraw(777);
  connection.answer(R"({"results":[{"outcome":"pushed","id":"1","key":"k","due_ms":5}]})");
  EXPECT_TRUE(pushed.reply.get());
  engine_->withdraw(pushed.ticket);
}

TEST_F(RemoteEngineTest, closing_ends_waiting_claims_and_releases_what_was_on_its_way) {
  RawConnection connection = open();
  auto waiting = ask(claim(60'000));
  connection.receive();
  auto closed = std::async(std::launch::async, [&] { engine_->close(); });
  EXPECT_EQ(waiting.reply.get().error().code, ErrorCode::closed);
  EXPECT_TRUE(connection.wait_for_end());
  connection.answer(claimed("r"));
  RawConnection other = server_.accept();
  EXPECT_EQ(receipts_released(other.receive()), "r");
  other.answer(kDone);
  closed.get();
}

TEST_F(RemoteEngineTest, closing_waits_for_an_answer_that_is_on_its_way) {
  RawConnection connection = open();
  auto pushed = ask(push("k"));
  connection.receive();
  auto closed = std::async(std::launch::async, [&] { engine_->close(); });
  connection.answer(R"({"results":[{"outcome":"pushed","id":"1","key":"k","due_ms":5}]})");
  EXPECT_TRUE(pushed.reply.get());
  closed.get();
  EXPECT_TRUE(connection.wait_for_end());
}

TEST_F(RemoteEngineTest, is_closed_after_its_close) {
  const RawConnection connection = open();
  engine_->close();
  engine_->close();
  auto asked = ask(core::StatsRequest{});
  EXPECT_EQ(asked.reply.get().error().code, ErrorCode::closed);
  engine_->withdraw(asked.ticket);
}

// A caller may hold a lock that its completion takes. That must not deadlock.
TEST_F(RemoteEngineTest, never_completes_within_submit) {
  const RawConnection connection = open();
  std::mutex held;
  const auto submit_under_lock = [&](core::Request request) {
    std::promise<ErrorCode> done;
    std::thread::id ran_on;
    {
      const std::scoped_lock lock(held);
      engine_->submit(std::move(request), [&](const Result<core::Reply>& reply) {
        ran_on = std::this_thread::get_id();
        if (ran_on != caller_) held.lock();
        const ErrorCode code = reply.error().code;
        if (ran_on != caller_) held.unlock();
        done.set_value(code);
      });
    }
    const ErrorCode code = done.get_future().get();
    EXPECT_NE(ran_on, caller_);
    return code;
  };
  EXPECT_EQ(submit_under_lock(core::PurgeRequest{"-bad"}), ErrorCode::invalid_argument);
  engine_->close();
  EXPECT_EQ(submit_under_lock(core::PurgeRequest{"q"}), ErrorCode::closed);
}

TEST_F(RemoteEngineTest, its_last_handle_may_be_dropped_by_a_completion_after_the_close) {
  const RawConnection connection = open();
  engine_->close();
  const auto engine = std::make_shared<std::unique_ptr<core::Engine>>(std::move(engine_));
  const auto done = std::make_shared<std::promise<void>>();
  auto ran = done->get_future();
  std::promise<void> submitted;
  (*engine)->submit(core::StatsRequest{}, [engine, done, others = submitted.get_future().share()](
                                              const Result<core::Reply>&) {
    others.wait();
    engine->reset();
    done->set_value();
  });
  submitted.set_value();
  ran.get();
}

TEST_F(RemoteEngineTest, a_completion_may_submit) {
  RawConnection connection = open();
  std::promise<bool> second;
  engine_->submit(core::StatsRequest{}, [&](const Result<core::Reply>&) {
    engine_->submit(core::PurgeRequest{"q"}, [&](const Result<core::Reply>& reply) {
      second.set_value(reply && std::get<core::CountReply>(*reply).count == 3);
    });
  });
  connection.receive();
  connection.answer(wire::encode_store_stats({}));
  EXPECT_EQ(connection.receive().target, "/v1/queues/q/purge");
  connection.answer(R"({"count":3})");
  EXPECT_TRUE(second.get_future().get());
}

}  // namespace
}  // namespace tarry::remote
