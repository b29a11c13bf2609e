// A Redis server with engines, and a foreign producer, which uses XADD.
#pragma once

#include <chrono>
#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engines/redis/redis_engine.h"
#include "support/redis_server.h"

namespace tarry::testing {

class InboxRig {
 public:
  using Words = std::vector<std::string>;

  explicit InboxRig(std::vector<std::string> args = {}) : server_(std::move(args)) {}

  [[nodiscard]] RedisServer& server() noexcept { return server_; }
  [[nodiscard]] redis::RedisEngineOptions options() const {
    redis::RedisEngineOptions options;
    options.server.unix_path = server_.socket_path();
    options.log = [log = log_](std::string_view line) {
      const std::lock_guard lock(log->mutex);
      log->lines.emplace_back(line);
      log->changed.notify_all();
    };
    return options;
  }
  static std::unique_ptr<core::Engine> open(redis::RedisEngineOptions options) {
    auto engine = redis::open_redis(std::move(options));
    if (!engine) throw std::runtime_error(engine.error().message);
    return *std::move(engine);
  }
  [[nodiscard]] std::unique_ptr<core::Engine> open() const { return open(options()); }

  /// Waits until a line that contains the text was logged.
  void wait_for_line(std::string_view text) const {
    std::unique_lock lock(log_->mutex);
    const auto has = [&] {
      for (const std::string& line : log_->lines) {
        if (line.find(text) != std::string::npos) return true;
      }
      return false;
    };
    EXPECT_TRUE(log_->changed.wait_for(lock, std::chrono::minutes(1), has)) << text;
  }
  /// All lines that were logged.
  [[nodiscard]] std::string lines() const {
    const std::lock_guard lock(log_->mutex);
    std::string all;
    for (const std::string& line : log_->lines) all += line + "\n";
    return all;
  }
  void forget_lines() const {
    const std::lock_guard lock(log_->mutex);
    log_->lines.clear();
  }

  static std::string key(int partition, std::string_view rest) {
    return "tarry:{" + std::to_string(partition) + "}:" + std::string(rest);
  }
  /// The text of a bulk reply.
  std::string ask(const Words& words) {
    const std::string reply = server_.ask(words);
    EXPECT_FALSE(reply.empty() || reply.front() == '-') << words.front() << ": " << reply;
    if (!reply.starts_with('$')) return reply;
    const std::size_t line = reply.find("\r\n");
    return reply.size() < line + 4 ? "" : reply.substr(line + 2, reply.size() - line - 4);
  }
  /// Adds an entry, and returns its id.
  std::string add(const Words& fields, int partition = 0, std::string_view id = "*") {
    Words words = {"XADD", key(partition, "in"), std::string(id)};
    words.insert(words.end(), fields.begin(), fields.end());
    return ask(words);
  }
  /// Waits until the inbox is empty.
  void wait_until_drained(int partition = 0) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
    while (server_.ask({"XLEN", key(partition, "in")}) != ":0\r\n") {
      ASSERT_LT(std::chrono::steady_clock::now(), deadline) << lines();
      (void)server_.ask({"PUBLISH", key(partition, "wake"), "in"});
    }
  }
  /// The entries that were set aside, one per line; each field and each value follows a '|'.
  std::string set_aside(int partition = 0) {
    return ask({"EVAL",
                "local out = '' for _, e in ipairs(redis.call('XRANGE', KEYS[1], '-', '+')) do "
                "out = out .. '|' .. table.concat(e[2], '|') .. '\\n' end return out",
                "1", key(partition, "in:bad")});
  }

  static core::Reply answer(core::Engine& engine, core::Request request) {
    auto promise = std::make_shared<std::promise<Result<core::Reply>>>();
    auto future = promise->get_future();
    engine.submit(std::move(request),
                  [promise](Result<core::Reply> reply) { promise->set_value(std::move(reply)); });
    auto reply = future.get();
    if (!reply) throw std::runtime_error(reply.error().message);
    return *std::move(reply);
  }
  static Result<MessageInfo> get(core::Engine& engine, std::string_view queue,
                                 std::string_view key) {
    core::GetRequest request;
    request.queue = queue;
    request.keys.push_back(core::append(request.bytes, key));
    return std::get<core::GetReply>(answer(engine, request)).items.at(0);
  }
  static std::vector<MessageInfo> list(core::Engine& engine, std::string_view queue) {
    core::ListRequest request;
    request.queue = queue;
    request.limit = 10'000;
    return std::get<core::ListReply>(answer(engine, request)).messages;
  }
  static QueueStats stats(core::Engine& engine, std::string_view queue) {
    core::StatsRequest request;
    request.queue = queue;
    return std::get<StoreStats>(answer(engine, request)).queues.at(0);
  }

 private:
  struct Log {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<std::string> lines;
  };
  RedisServer server_;
  const std::shared_ptr<Log> log_ = std::make_shared<Log>();
};

}  // namespace tarry::testing
