// Claims that wait at Redis, without an engine: only the test begins them and wakes them.
//
// Thread safety: the test's thread, which also runs the event loop.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>

#include <gtest/gtest.h>

#include "engines/redis/node/alarms.h"
#include "engines/redis/node/server.h"
#include "net/redis/redis_client.h"
#include "support/redis_server.h"
#include "timing/manual_clock.h"

namespace tarry::testing {

/// `Claims` is the type for the native store or for a layout. The test makes the object.
template <typename Claims>
class ClaimsRig : public ::testing::Test {
 protected:
  ClaimsRig() {
    net::RedisOptions to;
    to.unix_path = server_.socket_path();
    client_ = std::make_unique<net::RedisClient>(io_, to);
    scripts_ = std::make_unique<redis::Server>(*client_, clock_.get());
  }
  /// Call `end` in the test's destructor, because the test's members are destroyed before those of
  /// this class.
  void end() {
    alarms_.close();
    client_->close();
    io_.run_for(std::chrono::minutes(1));
    claims_.reset();
  }

  struct Waiting {
    std::optional<Result<core::Reply>> reply;
    [[nodiscard]] bool is_answered() const { return reply.has_value(); }
    [[nodiscard]] std::size_t found() const {
      return std::get<core::ClaimReply>(reply->value()).items.size();
    }
  };
  /// Begins a claim of one message from these queues.
  std::shared_ptr<Waiting> claim(std::vector<std::string> queues,
                                 Millis wait = std::chrono::minutes(10)) {
    core::ClaimRequest request;
    request.queues = std::move(queues);
    request.max = 1;
    request.wait = wait;
    auto waiting = std::make_shared<Waiting>();
    auto asked = std::make_shared<redis::Asked>();
    asked->request = std::move(request);
    asked->completion = [waiting](Result<core::Reply> reply) { waiting->reply = std::move(reply); };
    claims_->begin(++last_ticket_, asked);
    return waiting;
  }
  template <typename Condition>
  void run_until(Condition condition) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error("it never comes");
      io_.run_one_for(std::chrono::milliseconds(100));
    }
  }
  void run_until_they_wait(const std::string& queue, std::uint64_t claims) {
    run_until([&] { return claims_->waiting_at(queue) == claims; });
  }

  RedisServer server_;
  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
  boost::asio::io_context io_{1};
  std::unique_ptr<net::RedisClient> client_;
  std::unique_ptr<redis::Server> scripts_;
  redis::Alarms alarms_{io_, clock_.get()};
  std::unique_ptr<Claims> claims_;
  core::Ticket last_ticket_ = 0;
};

}  // namespace tarry::testing
