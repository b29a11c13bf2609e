// Sweeper: looks at every partition from time to time, so that what is due gets delivered, leases
// run out and the dead expire although a wake-up was lost, and although nobody asks; and that
// inboxes are drained. It depends on neither wake-ups nor the heads that claims remember.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <random>
#include <set>
#include <string>

#include "engines/redis/alarms.h"
#include "engines/redis/claims.h"
#include "engines/redis/inbox.h"
#include "engines/redis/item_verb.h"

namespace tarry::redis {

class Sweeper {
 public:
  Sweeper(Context& context, Alarms& alarms, Claims& claims, Inbox& inbox)
      : context_(context),
        alarms_(alarms),
        claims_(claims),
        inbox_(inbox),
        random_(std::random_device()()) {}

  /// And from then on about every second.
  void start();
  void sweep();

 private:
  void sweep_partition(std::uint32_t partition, const std::vector<std::string>& waited);
  void ask_for_reshards();
  void settle(const QueuePtr& queue);
  void tick(std::string shard_name, int rounds);

  Context& context_;
  Alarms& alarms_;
  Claims& claims_;
  Inbox& inbox_;
  std::minstd_rand random_;
  std::set<std::uint32_t> sweeping_;  // partitions
  std::set<std::string> settling_;    // queues
  std::int64_t reshards_ = 0;         // as the store counted them last
  bool asking_ = false;
};

}  // namespace tarry::redis
