// A RedisClient with its own io_context and thread, for tests that ask and wait.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include <gtest/gtest.h>

#include "net/redis/redis_client.h"
#include "net/redis/redis_cluster.h"
#include "support/redis_server.h"

namespace tarry::testing {

class RedisRig {
 public:
  using Future = std::future<net::RedisAnswer>;
  using Words = std::vector<std::string>;

  ~RedisRig() {
    run([this] { client_.reset(); });
    guard_.reset();
    thread_.join();
  }

  static net::RedisOptions to(const RedisServer& server) {
    net::RedisOptions options;
    options.port = server.port();
    return options;
  }
  /// The error of a first command, which was not sent.
  static std::string refusal(const net::RedisOptions& options) {
    RedisRig rig;
    rig.open(options);
    const net::RedisFailure failure = failure_of(rig.send({"PING"}));
    EXPECT_FALSE(failure.sent);
    return std::string(to_string(failure.error.code)) + ": " + failure.error.message;
  }
  void open(net::RedisOptions options) {
    run([&] { client_ = std::make_unique<net::RedisClient>(io_, std::move(options)); });
  }
  void open_cluster(std::vector<net::RedisAddress> seeds, net::RedisOptions options) {
    run([&] {
      client_ = std::make_unique<net::RedisCluster>(io_, std::move(seeds), std::move(options));
    });
  }
  /// Only for the rig's thread.
  [[nodiscard]] net::Redis& client() { return *client_; }
  /// Destroys the client; only on the rig's thread.
  void destroy_now() { client_.reset(); }

  // Runs the task on the client's thread, and waits for its end.
  template <typename Task>
  void run(Task task) {
    std::promise<void> done;
    boost::asio::post(io_, [&] {
      task();
      done.set_value();
    });
    done.get_future().get();
  }
  /// Returns when everything sent before was given to the kernel, as far as the kernel took it.
  void flush() {
    run([] {});
    run([] {});
  }

  /// A word with a brace in it is a key.
  static net::RedisCommand command(const Words& words) {
    net::RedisCommand made(words.front());
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (words[i].find('{') == std::string::npos) {
        made.add(words[i]);
      } else {
        made.key(words[i]);
      }
    }
    return made;
  }
  static std::pair<net::RedisClient::Done, Future> promise() {
    auto promise = std::make_shared<std::promise<net::RedisAnswer>>();
    Future future = promise->get_future();
    return {[promise](net::RedisAnswer a) { promise->set_value(std::move(a)); }, std::move(future)};
  }

  /// Sends at once; only on the rig's thread.
  Future send_now(const Words& words) {
    auto [done, future] = promise();
    client_->send(command(words), std::move(done));
    return std::move(future);
  }
  Future send(const Words& words) {
    Future future;
    run([&] { future = send_now(words); });
    return future;
  }
  Future send_batch(const std::vector<Words>& batch) {
    auto [done, future] = promise();
    run([&, &done = done] {
      std::vector<net::RedisCommand> commands;
      for (const Words& words : batch) commands.push_back(command(words));
      client_->send(std::move(commands), std::move(done));
    });
    return std::move(future);
  }
  std::string ask(const Words& words) { return text_of(send(words)); }
  /// Repeats the command until an answer comes.
  std::string ask_until_answered(const Words& words) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    for (;;) {
      net::RedisAnswer answer = send(words).get();
      if (std::holds_alternative<net::RedisReply>(answer) ||
          std::chrono::steady_clock::now() > deadline) {
        return text_of(answer);
      }
      std::this_thread::yield();
    }
  }

  /// The reply as text: a text itself, "(7)", "(nil)", "(array of 2)" or "!error"; or why there is
  /// no reply.
  static std::string text_of(const net::RedisAnswer& answer) {
    if (const auto* failure = std::get_if<net::RedisFailure>(&answer)) {
      return std::string(to_string(failure->error.code)) + ": " + failure->error.message;
    }
    using Kind = net::RedisView::Kind;
    const net::RedisView view = std::get<net::RedisReply>(answer).view();
    switch (view.kind()) {
      case Kind::nil: return "(nil)";
      case Kind::integer: return "(" + std::to_string(view.integer()) + ")";
      case Kind::text:
      case Kind::status: return std::string(view.text());
      case Kind::error: return "!" + std::string(view.text());
      case Kind::array: return "(array of " + std::to_string(view.size()) + ")";
    }
    return "?";
  }
  static std::string text_of(Future future) { return text_of(future.get()); }
  static net::RedisFailure failure_of(Future future) {
    net::RedisAnswer answer = future.get();
    if (auto* failure = std::get_if<net::RedisFailure>(&answer)) return std::move(*failure);
    ADD_FAILURE() << "answered " << text_of(answer);
    return {};
  }

 private:
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      io_.get_executor()};
  std::thread thread_{[this] { io_.run(); }};
  std::unique_ptr<net::Redis> client_;
};

/// Texts from another thread, in order of arrival.
class Inbox {
 public:
  void put(std::string text) {
    const std::lock_guard lock(mutex_);
    texts_.push_back(std::move(text));
    came_.notify_one();
  }
  /// The next text; empty if none came for a minute.
  std::string next() {
    std::unique_lock lock(mutex_);
    if (!came_.wait_for(lock, std::chrono::minutes(1), [this] { return !texts_.empty(); })) {
      return {};
    }
    std::string text = std::move(texts_.front());
    texts_.pop_front();
    return text;
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::deque<std::string> texts_;
};

}  // namespace tarry::testing
