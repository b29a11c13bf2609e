// A test's own Redis cluster: masters that share the slots evenly, in order, and their replicas.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/redis_server.h"

namespace tarry::testing {

class RedisClusterServers {
 public:
  /// Starts the cluster, and returns when every node says that all is well. `args` are for every
  /// node.
  explicit RedisClusterServers(std::size_t masters = 3, std::size_t replicas_of_each = 0,
                               const std::vector<std::string>& args = {})
      : masters_(masters) {
    for (std::size_t i = 0; i < masters * (1 + replicas_of_each); ++i) add_server(args);
    for (std::size_t i = 0; i < masters; ++i) {
      expect_ok(i, {"CLUSTER", "SET-CONFIG-EPOCH", std::to_string(i + 1)});
      expect_ok(i, {"CLUSTER", "ADDSLOTSRANGE", std::to_string(first_slot(i)),
                    std::to_string(first_slot(i + 1) - 1)});
    }
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) meet(j, i);
    }
    wait_until_all("cluster_known_nodes:" + std::to_string(servers_.size()) + "\r");
    for (std::size_t i = masters; i < servers_.size(); ++i) {
      const std::string master = id(i % masters);
      until([&] { return ask(i, {"CLUSTER", "REPLICATE", master}) == "+OK\r\n"; });
      until([&] { return ask(i, {"INFO"}).find("master_link_status:up") != std::string::npos; });
    }
    wait_until_all("cluster_state:ok");
    wait_until_all("cluster_slots_assigned:16384");
  }

  /// The masters come first; the replicas of master m are at masters + m and so on.
  [[nodiscard]] RedisServer& server(std::size_t index) { return *servers_.at(index); }
  [[nodiscard]] std::size_t size() const noexcept { return servers_.size(); }
  [[nodiscard]] std::size_t masters() const noexcept { return masters_; }
  /// The master that had the slot at the beginning.
  [[nodiscard]] std::size_t first_owner(std::uint16_t slot) const {
    std::size_t owner = 0;
    while (slot >= first_slot(owner + 1)) ++owner;
    return owner;
  }
  [[nodiscard]] std::string id(std::size_t index) const {
    const std::string reply = ask(index, {"CLUSTER", "MYID"});
    return reply.substr(reply.find('\n') + 1, 40);
  }
  [[nodiscard]] std::string ask(std::size_t index, const std::vector<std::string>& words) const {
    return servers_.at(index)->ask(words);
  }
  void expect_ok(std::size_t index, const std::vector<std::string>& words) const {
    const std::string reply = ask(index, words);
    if (reply != "+OK\r\n") throw std::runtime_error(words[0] + " " + words[1] + ": " + reply);
  }
  /// "127.0.0.1:7000,127.0.0.1:7001": the masters at the beginning.
  [[nodiscard]] std::string hosts() const {
    std::string hosts;
    for (std::size_t i = 0; i < masters_; ++i) {
      hosts += (i > 0 ? ",127.0.0.1:" : "127.0.0.1:") + std::to_string(servers_[i]->port());
    }
    return hosts;
  }
  /// Deletes everything in all of them.
  void clear() const {
    for (std::size_t i = 0; i < masters_; ++i) expect_ok(i, {"FLUSHALL"});
  }

  // -- moving a slot

  void begin_move(std::uint16_t slot, std::size_t from, std::size_t to) const {
    expect_ok(to, {"CLUSTER", "SETSLOT", std::to_string(slot), "IMPORTING", id(from)});
    expect_ok(from, {"CLUSTER", "SETSLOT", std::to_string(slot), "MIGRATING", id(to)});
  }
  void move_key(const std::string& key, std::size_t from, std::size_t to) const {
    expect_ok(from,
              {"MIGRATE", "127.0.0.1", std::to_string(servers_.at(to)->port()), key, "0", "60000"});
  }
  /// Returns when all masters know the epoch in which the move ended. With an older epoch, the new
  /// owner could lose the slot again, because messages of the last owner would win.
  void end_move(std::uint16_t slot, std::size_t to) const {
    expect_ok(to, {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id(to)});
    for (std::size_t i = 0; i < masters_; ++i) {
      if (i != to) expect_ok(i, {"CLUSTER", "SETSLOT", std::to_string(slot), "NODE", id(to)});
    }
    until([&] {
      const std::string epoch = current_epoch(to);
      for (std::size_t i = 0; i < masters_; ++i) {
        if (current_epoch(i) != epoch) return false;
      }
      return true;
    });
  }

  /// Makes that replica the master, by an orderly failover. Repeats it if necessary, because Redis
  /// gives up an attempt after 5 s.
  void fail_over(std::size_t replica) const {
    using Clock = std::chrono::steady_clock;
    auto asked = Clock::time_point::min();
    until([&] {
      if (is_master(replica)) return true;
      if (asked == Clock::time_point::min() || Clock::now() > asked + std::chrono::seconds(6)) {
        asked = Clock::now();
        (void)ask(replica, {"CLUSTER", "FAILOVER"});
      }
      return false;
    });
  }
  [[nodiscard]] bool is_master(std::size_t index) const {
    return ask(index, {"INFO", "replication"}).find("role:master") != std::string::npos;
  }
  /// Waits until the node is a replica that has everything its master had a moment ago.
  void wait_until_follows(std::size_t index) const {
    until([&] {
      return ask(index, {"INFO", "replication"}).find("master_link_status:up") != std::string::npos;
    });
  }

  template <typename Condition>
  void until(Condition condition) const {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    while (!condition()) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw std::runtime_error("the Redis cluster does not become what it should");
      }
      if (!servers_.front()->alive_for(2)) throw std::runtime_error("redis-server died");
    }
  }

 private:
  [[nodiscard]] std::string current_epoch(std::size_t index) const {
    constexpr std::string_view kName = "cluster_current_epoch:";
    const std::string told = ask(index, {"CLUSTER", "INFO"});
    const std::size_t at = told.find(kName);
    return at == std::string::npos ? "" : told.substr(at, told.find('\r', at) - at);
  }
  [[nodiscard]] std::size_t first_slot(std::size_t master) const {
    return 16384 * master / masters_;
  }
  void add_server(std::vector<std::string> args) {
    bus_ports_.push_back(RedisServer::free_port());
    for (const std::string& word :
         {std::string("--cluster-enabled"), std::string("yes"), std::string("--cluster-port"),
          std::to_string(bus_ports_.back()), std::string("--cluster-node-timeout"),
          std::string("2000"), std::string("--repl-diskless-sync-delay"), std::string("0")}) {
      args.push_back(word);
    }
    servers_.push_back(std::make_unique<RedisServer>(std::move(args)));
  }
  void meet(std::size_t index, std::size_t other) const {
    expect_ok(index, {"CLUSTER", "MEET", "127.0.0.1", std::to_string(servers_[other]->port()),
                      std::to_string(bus_ports_[other])});
  }
  void wait_until_all(const std::string& line) const {
    for (std::size_t i = 0; i < servers_.size(); ++i) {
      until([&] { return ask(i, {"CLUSTER", "INFO"}).find(line) != std::string::npos; });
    }
  }

  const std::size_t masters_;
  std::vector<std::unique_ptr<RedisServer>> servers_;
  std::vector<std::uint16_t> bus_ports_;
};

}  // namespace tarry::testing
