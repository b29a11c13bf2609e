// Asks an engine, and waits for its answer.
//
// Thread safety: pure functions. They may be called from any thread but the engine's.
#pragma once

#include <future>
#include <memory>
#include <utility>
#include <variant>

#include <gtest/gtest.h>

#include "core/engine.h"

namespace tarry::test {

/// For fixtures to derive from.
struct EngineCalls {
  [[nodiscard]] static Result<core::Reply> ask(core::Engine& engine, core::Request request) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    auto future = promise->get_future();
    engine.submit(std::move(request),
                  [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
    return future.get();
  }
  /// The answer, of which an error fails the test.
  template <typename T>
  static T take(core::Engine& engine, core::Request request) {
    auto reply = ask(engine, std::move(request));
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    return reply ? std::get<T>(std::move(*reply)) : T();
  }
};

}  // namespace tarry::test
