// A master, its replica, and sentinels that watch both, all started by the test. The sentinels
// react fast. But they consider a silent master dead only if a test is about to kill it, so that a
// machine that stands still for a moment does not cause a failover.
//
// Not thread safe. The servers die with the thread that made them, like RedisServer.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "support/redis_server.h"

namespace tarry::testing {

class RedisFamily {
 public:
  using Words = std::vector<std::string>;
  static constexpr const char* kName = "orders";  // the sentinels' name for the master

  /// `args` are for the master and the replica. `config` is added to each sentinel's configuration
  /// ("requirepass secret").
  explicit RedisFamily(std::size_t sentinels = 1, Words args = {}, const std::string& config = {})
      : args_(std::move(args)) {
    args_.insert(args_.end(), {"--repl-diskless-sync-delay", "0"});
    servers_.push_back(std::make_unique<RedisServer>(args_));
    servers_.push_back(std::make_unique<RedisServer>(args_));
    follow(replica(), master());
    const std::string watch =
        "sentinel monitor " + std::string(kName) + " 127.0.0.1 " + std::to_string(master().port()) +
        " " + std::to_string(sentinels / 2 + 1) + "\nsentinel down-after-milliseconds " + kName +
        " 60000\nsentinel failover-timeout " + kName + " 3000\n" + config + "\n";
    for (std::size_t i = 0; i < sentinels; ++i) {
      sentinels_.push_back(std::make_unique<RedisServer>(Words{"--sentinel"}, watch));
      // While a master is down, a sentinel asks its replica once a second. An answer must stay
      // valid for longer than that, which means for five ping periods or three info periods. And
      // other sentinels must leave a promoted replica alone for as long, which means for four
      // publish periods.
      (void)this->sentinel(i).ask({"SENTINEL", "DEBUG", "info-period", "400", "ping-period", "300",
                                   "publish-period", "500"});
    }
  }

  /// The present master, according to `fail_over` and `lose_master`.
  [[nodiscard]] RedisServer& master() { return *servers_[master_]; }
  [[nodiscard]] RedisServer& replica() { return *servers_[1 - master_]; }
  [[nodiscard]] RedisServer& sentinel(std::size_t i = 0) { return *sentinels_[i]; }
  [[nodiscard]] std::size_t sentinels() const noexcept { return sentinels_.size(); }

  /// Makes the replica the master. The old master is still alive, and does not know it yet.
  void fail_over() {
    until("the sentinels to do it", [this] {
      if (is_master(replica())) return true;
      (void)sentinel().ask({"SENTINEL", "FAILOVER", kName});  // a sentinel may give up an attempt
      return false;
    });
    until_promoted();
  }
  /// Kills the master with SIGKILL; the sentinels notice, and make the replica the master. Changes
  /// made within `undone` do not reach the replica.
  void lose_master(const std::function<void()>& undone = {}) {
    until_followed();
    for (const auto& each : sentinels_) {
      (void)each->ask({"SENTINEL", "SET", kName, "down-after-milliseconds", "500"});
    }
    if (undone) {
      replica().pause();
      (void)master().ask({"CLIENT", "KILL", "TYPE", "replica"});
      undone();
    }
    master().kill9();
    if (undone) replica().cont();
    until_promoted();
  }
  /// Waits until the replica has all changes of the master.
  void until_followed() {
    // The replica shows its position only after it was sent something.
    (void)master().ask({"PUBLISH", "settle", ""});
    until("the replica to follow", [this] {
      const std::string behind = replica().ask({"INFO", "replication"});
      return behind.find("master_link_status:up") != std::string::npos &&
             offset_of(behind) == offset_of(master().ask({"INFO", "replication"}));
    });
    until("the sentinels to know the replica", [this] {
      return sentinel().ask({"INFO", "sentinel"}).find("slaves=1") != std::string::npos;
    });
  }
  static void follow(RedisServer& one, const RedisServer& other) {
    (void)one.ask({"REPLICAOF", "127.0.0.1", std::to_string(other.port())});
  }
  static bool is_master(const RedisServer& server) {
    return server.ask({"INFO", "replication"}).find("role:master") != std::string::npos;
  }

  static void until(const std::string& what, const std::function<bool()>& is_so) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!is_so()) {
      if (std::chrono::steady_clock::now() > deadline)
        throw std::runtime_error("waited for " + what);
      std::this_thread::yield();
    }
  }

 private:
  static std::string offset_of(const std::string& info) {
    const std::size_t at = info.find("master_repl_offset:");
    return info.substr(at, info.find('\r', at) - at);
  }

  void until_promoted() {
    until("the replica to be the master", [this] { return is_master(replica()); });
    master_ = 1 - master_;
    const std::string now = "address=127.0.0.1:" + std::to_string(master().port());
    until("the sentinels to say so", [&] {
      for (const auto& each : sentinels_) {
        if (each->pid() >= 0 && each->ask({"INFO", "sentinel"}).find(now) == std::string::npos) {
          return false;
        }
      }
      return true;
    });
  }

  Words args_;
  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::size_t master_ = 0;
  std::vector<std::unique_ptr<RedisServer>> sentinels_;
};

}  // namespace tarry::testing
