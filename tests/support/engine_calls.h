// Asks an engine, and waits for its answer.
//
// Thread safety: pure functions. They may be called from any thread but the engine's.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "core/engine.h"

namespace tarry::test {

/// Base class of fixtures.
struct EngineCalls {
  [[nodiscard]] static std::future<Result<core::Reply>> begin(core::Engine& engine,
                                                              core::Request request) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    auto future = promise->get_future();
    engine.submit(std::move(request),
                  [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
    return future;
  }
  [[nodiscard]] static Result<core::Reply> ask(core::Engine& engine, core::Request request) {
    return begin(engine, std::move(request)).get();
  }
  /// The answer. An error fails the test.
  template <typename T>
  static T take(core::Engine& engine, core::Request request) {
    auto reply = ask(engine, std::move(request));
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    return reply ? std::get<T>(std::move(*reply)) : T();
  }
  /// The keys of the claimed messages.
  [[nodiscard]] static std::vector<std::string> keys_in(const Result<core::Reply>& claim) {
    EXPECT_TRUE(claim) << (claim ? "" : claim.error().message);
    std::vector<std::string> keys;
    if (!claim) return keys;
    const auto& claimed = std::get<core::ClaimReply>(*claim);
    for (const core::ClaimedItem& item : claimed.items) {
      keys.emplace_back(core::view(claimed.bytes, item.key));
    }
    return keys;
  }
  /// The first error in the reply, of the request or of an item; empty if there is none. A message
  /// that does not exist is not an error.
  [[nodiscard]] static std::string error_in(const Result<core::Reply>& reply) {
    if (!reply) return reply.error().message;
    if (const auto* pushed = std::get_if<core::PushReply>(&*reply)) {
      for (const auto& item : pushed->items) {
        if (item.error) return item.error->message;
      }
    }
    if (const auto* items = std::get_if<core::ItemsReply>(&*reply)) {
      for (const auto& item : items->items) {
        if (item.error) return item.error->message;
      }
    }
    if (const auto* got = std::get_if<core::GetReply>(&*reply)) {
      for (const auto& item : got->items) {
        if (!item && item.error().code != ErrorCode::not_found) return item.error().message;
      }
    }
    return "";
  }
  /// A push of one message whose key the store generates.
  [[nodiscard]] static core::PushRequest push_of(std::string_view queue, Millis delay) {
    core::PushRequest push;
    push.queue = queue;
    push.items.emplace_back();
    push.items.back().due = Due::after(delay);
    return push;
  }
  /// Waits until a claim waits at that queue.
  static void wait_until_it_waits(core::Engine& engine, const std::string& queue) {
    core::StatsRequest stats;
    stats.queue = queue;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (take<StoreStats>(engine, stats).queues.at(0).waiting_claims == 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline);
    }
  }
};

}  // namespace tarry::test
