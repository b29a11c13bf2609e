// For tests: the store of a layout on a real server, with one request at a time.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engines/redis/layouts/layout_engine.h"
#include "support/redis_server.h"

namespace tarry::redis {

struct Taken {
  std::string key;
  std::string payload;
  std::string receipt;
  std::uint64_t id = 0;
  std::int64_t due_ms = 0;
  std::int64_t claimed_ms = 0;
  std::uint32_t attempt = 0;
};

class LayoutStore {
 public:
  explicit LayoutStore(LayoutEngineOptions options) {
    options.log = [this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    };
    auto opened = open_layout(std::move(options));
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    if (opened) engine_ = *std::move(opened);
  }

  [[nodiscard]] core::Engine& engine() { return *engine_; }
  void close() { engine_.reset(); }
  [[nodiscard]] std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  std::future<Result<core::Reply>> submit(core::Request request) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    auto future = promise->get_future();
    engine_->submit(std::move(request),
                    [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
    return future;
  }
  template <typename Reply>
  Reply ask(core::Request request) {
    auto reply = submit(std::move(request)).get();
    EXPECT_TRUE(reply) << (reply ? "" : reply.error().message);
    return reply ? std::get<Reply>(*std::move(reply)) : Reply();
  }
  /// The error with which the whole request is refused.
  Error refusal(core::Request request) {
    auto reply = submit(std::move(request)).get();
    EXPECT_FALSE(reply);
    return reply ? Error{} : reply.error();
  }

  struct Pushed {
    Outcome outcome = Outcome::unknown;
    std::string key;
    std::int64_t due_ms = 0;
    std::uint64_t id = 0;
    std::optional<Error> error;
  };
  static core::PushRequest push_of(std::string_view queue, std::string_view payload,
                                   std::string_view key = {}, Due due = {},
                                   std::optional<IfExists> rule = {}) {
    core::PushRequest request;
    request.queue = queue;
    core::PushItem item;
    item.key = core::append(request.bytes, key);
    item.payload = core::append(request.bytes, payload);
    item.due = due;
    item.if_exists = rule;
    request.items.push_back(item);
    return request;
  }
  Pushed push(core::PushRequest request) {
    const auto reply = ask<core::PushReply>(std::move(request));
    if (reply.items.empty()) return {};
    const core::PushResult& item = reply.items[0];
    return {item.outcome, std::string(core::view(reply.bytes, item.key)), item.due_ms, item.id,
            item.error};
  }
  Pushed push(std::string_view queue, std::string_view payload, std::string_view key = {},
              Due due = {}, std::optional<IfExists> rule = {}) {
    return push(push_of(queue, payload, key, due, rule));
  }

  static core::ClaimRequest claim_of(std::string_view queue, std::int64_t wait_ms = 0,
                                     std::int64_t lease_ms = 30'000, std::uint32_t max = 10) {
    core::ClaimRequest request;
    request.queues = {std::string(queue)};
    request.max = max;
    request.wait = Millis(wait_ms);
    request.lease = Millis(lease_ms);
    return request;
  }
  static std::vector<Taken> taken_in(const core::ClaimReply& reply) {
    std::vector<Taken> taken;
    for (const core::ClaimedItem& item : reply.items) {
      const auto text = [&](core::Slice piece) {
        return std::string(core::view(reply.bytes, piece));
      };
      taken.push_back({text(item.key), text(item.payload), text(item.receipt), item.id, item.due_ms,
                       item.claimed_ms, item.attempt});
    }
    return taken;
  }
  std::vector<Taken> claim(core::ClaimRequest request) {
    return taken_in(ask<core::ClaimReply>(std::move(request)));
  }
  std::vector<Taken> claim(std::string_view queue, std::int64_t wait_ms = 0) {
    return claim(claim_of(queue, wait_ms));
  }

  core::ItemResult settle(std::string_view receipt,
                          core::SettleAction action = core::SettleAction::ack,
                          std::optional<std::int64_t> delay_ms = {}) {
    core::SettleRequest request;
    core::SettleItem item;
    item.receipt = core::append(request.bytes, receipt);
    item.action = action;
    if (delay_ms) item.delay = Millis(*delay_ms);
    request.items.push_back(item);
    return first(ask<core::ItemsReply>(std::move(request)));
  }
  core::ItemResult extend(std::string_view receipt, std::int64_t lease_ms) {
    core::ExtendRequest request;
    core::ExtendItem item;
    item.receipt = core::append(request.bytes, receipt);
    item.lease = Millis(lease_ms);
    request.items.push_back(item);
    return first(ask<core::ItemsReply>(std::move(request)));
  }
  core::ItemResult cancel(std::string_view queue, std::string_view key) {
    core::CancelRequest request;
    request.queue = queue;
    request.keys.push_back(core::append(request.bytes, key));
    return first(ask<core::ItemsReply>(std::move(request)));
  }
  core::ItemResult reschedule(std::string_view queue, std::string_view key, Due due) {
    core::RescheduleRequest request;
    request.queue = queue;
    core::RescheduleItem item;
    item.key = core::append(request.bytes, key);
    item.due = due;
    request.items.push_back(item);
    return first(ask<core::ItemsReply>(std::move(request)));
  }
  Result<MessageInfo> get(std::string_view queue, std::string_view key) {
    core::GetRequest request;
    request.queue = queue;
    request.keys.push_back(core::append(request.bytes, key));
    auto reply = ask<core::GetReply>(std::move(request));
    if (reply.items.empty()) return Error{};
    return std::move(reply.items[0]);
  }
  std::vector<MessageInfo> list(std::string_view queue, std::uint32_t page = 100,
                                std::optional<State> state = {}, std::string_view prefix = {}) {
    std::vector<MessageInfo> all;
    core::ListRequest request;
    request.queue = queue;
    request.limit = page;
    request.state = state;
    request.prefix = prefix;
    do {
      auto reply = ask<core::ListReply>(request);
      EXPECT_LE(reply.messages.size(), page);
      for (MessageInfo& info : reply.messages) all.push_back(std::move(info));
      request.after = reply.next;
    } while (!request.after.empty());
    return all;
  }
  QueueStats stats(std::string_view queue) {
    core::StatsRequest request;
    request.queue = queue;
    auto reply = ask<StoreStats>(std::move(request));
    return reply.queues.empty() ? QueueStats() : reply.queues[0];
  }
  /// A claim that waits: it has already looked for messages and found none.
  std::future<Result<core::Reply>> parked(core::ClaimRequest request) {
    const std::string queue = request.queues.at(0);
    auto waiting = submit(std::move(request));
    const auto answered = [&] {
      return waiting.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    };
    while (stats(queue).waiting_claims == 0 && !answered()) {
    }
    return waiting;
  }

 private:
  static core::ItemResult first(const core::ItemsReply& reply) {
    return reply.items.empty() ? core::ItemResult() : reply.items[0];
  }

  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
  std::unique_ptr<core::Engine> engine_;
};

/// One server for all tests of a program, emptied before each test.
class LayoutTest : public ::testing::Test {
 protected:
  static constexpr std::int64_t kLong = 60'000;

  LayoutTest() { (void)server().ask({"FLUSHALL"}); }

  static tarry::testing::RedisServer& server() {
    static tarry::testing::RedisServer started;
    return started;
  }
  static LayoutEngineOptions options_of(LayoutSpec spec) {
    LayoutEngineOptions options;
    options.server.unix_path = server().socket_path();
    options.layout = std::move(spec);
    return options;
  }
  /// The reply of `ask` without the protocol's characters: a text or a number as text, "" for nil.
  static std::string redis(const std::vector<std::string>& words) {
    std::string reply = server().ask(words);
    EXPECT_FALSE(reply.starts_with('-')) << reply;
    if (reply.starts_with("$-1") || reply.size() < 3) return "";
    if (reply.starts_with('$')) {
      reply.erase(0, reply.find('\n') + 1);
    } else {
      reply.erase(0, 1);
    }
    return reply.substr(0, reply.size() - 2);
  }
  static std::int64_t now_ms() {
    return std::stoll(redis({"EVAL",
                             "local t = redis.call('TIME'); "
                             "return string.format('%.0f', t[1] * 1000 + math.floor(t[2] / 1000))",
                             "0"}));
  }
};

}  // namespace tarry::redis
