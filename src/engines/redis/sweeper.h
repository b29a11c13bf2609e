// Sweeper: looks at every partition from time to time. So due messages are delivered, leases run
// out and the dead expire even if a wake-up was lost and no request comes. It also drains inboxes.
// The sweep depends neither on wake-ups nor on the heads that claims remember.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>

#include <tarry/log.h>

#include "engines/redis/claims/claims.h"
#include "engines/redis/inbox/inbox.h"
#include "engines/redis/node/alarms.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

class Sweeper {
 public:
  /// `log`, which may be empty, is called once with the reason why sweeps fail, and once when they
  /// work again.
  Sweeper(Context& context, Alarms& alarms, Claims& claims, Inbox& inbox, Log log)
      : context_(context),
        alarms_(alarms),
        claims_(claims),
        inbox_(inbox),
        log_(std::move(log)),
        random_(std::random_device()()) {}

  /// From now on it sweeps about every second.
  void start();
  void sweep();

 private:
  // Names of shards, and how many of them have been asked for.
  struct Waited {
    std::vector<std::string> names;
    std::size_t asked = 0;
  };
  void sweep_partition(std::uint32_t partition, Waited waited);
  void ask_for_slice(std::uint32_t partition, Waited waited);
  void tick_all(std::uint32_t partition, net::RedisView busy, std::size_t passed_over);
  void ask_for_reshards();
  void settle(const QueuePtr& queue);
  void tick(std::uint32_t partition, std::string shard_name, int rounds);
  void was_in_vain(std::uint32_t partition);
  void failed(std::uint32_t partition, const std::string& shard_name, const Error& error);
  void succeeded(std::uint32_t partition, const std::string& shard_name);

  struct Trouble {
    std::string shard_name;  // empty: the partition's own
    std::string why;
  };

  Context& context_;
  Alarms& alarms_;
  Claims& claims_;
  Inbox& inbox_;
  const Log log_;
  std::minstd_rand random_;
  std::map<std::uint32_t, Trouble> troubles_;  // by partition
  std::set<std::uint32_t> sweeping_;           // partitions
  // For each partition whose agenda filled a slice: how many entries at its head were in vain,
  // because nothing could be done for them.
  std::map<std::uint32_t, std::size_t> in_vain_;
  std::set<std::string> settling_;  // queues
  std::int64_t reshards_ = 0;       // the store's count of reshards, as seen last
  bool asking_ = false;
};

}  // namespace tarry::redis
