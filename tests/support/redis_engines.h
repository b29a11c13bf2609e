// Engines on a real Redis server. A test ends if one cannot be opened.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/redis/redis_engine.h"
#include "support/engine_calls.h"
#include "support/must.h"
#include "support/redis_server.h"
#include "timing/manual_clock.h"

namespace tarry::testing {

/// Options for an engine at the server's socket. Without a clock the engine uses Redis's time.
[[nodiscard]] inline redis::RedisEngineOptions options_for(
    const RedisServer& server, std::shared_ptr<timing::ManualClock> clock = nullptr) {
  redis::RedisEngineOptions options;
  options.server.unix_path = server.socket_path();
  options.clock = std::move(clock);
  return options;
}

/// Opens an engine; an error ends the test.
[[nodiscard]] inline std::unique_ptr<core::Engine> must_open(redis::RedisEngineOptions options) {
  return must(redis::open_redis(std::move(options)));
}

/// The server that all tests of `Suite` share.
template <typename Suite>
RedisServer& server_of() {
  static RedisServer server;
  return server;
}

/// Base class of fixtures: each has its own server, and an engine there that uses `clock_`.
struct OneRedisEngine : test::EngineCalls {
  using EngineCalls::ask;
  Result<core::Reply> ask(core::Request request) { return ask(*engine_, std::move(request)); }
  /// The answer. An error fails the test.
  template <typename T>
  T asked(core::Request request) {
    return take<T>(*engine_, std::move(request));
  }

  RedisServer server_;
  std::shared_ptr<timing::ManualClock> clock_ = std::make_shared<timing::ManualClock>();
  std::unique_ptr<core::Engine> engine_ = must_open(options_for(server_, clock_));
};

}  // namespace tarry::testing
