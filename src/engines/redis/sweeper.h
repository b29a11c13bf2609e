// Sweeper: looks at every partition from time to time, so that what is due gets delivered, leases
// run out and the dead expire although a wake-up was lost, and although nobody asks. It depends on
// neither wake-ups nor the heads that claims remember.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <random>
#include <string>

#include "engines/redis/alarms.h"
#include "engines/redis/claims.h"
#include "engines/redis/item_verb.h"

namespace tarry::redis {

class Sweeper {
 public:
  Sweeper(Context& context, Alarms& alarms, Claims& claims)
      : context_(context), alarms_(alarms), claims_(claims), random_(std::random_device()()) {}

  /// And from then on about every second.
  void start();
  void sweep();

 private:
  void sweep_partition(std::uint32_t partition, const std::vector<std::string>& waited);
  void tick(std::string shard_name, int rounds);

  Context& context_;
  Alarms& alarms_;
  Claims& claims_;
  std::minstd_rand random_;
};

}  // namespace tarry::redis
