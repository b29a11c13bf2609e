// S2: M sharded ZSETs. hash(id) mod M picks the ZSET of a task; each machine's timer picks one by
// INCR mod M and scans it as S1 does. M is about the number of machines. Here one client plays four
// of them: it has four timers of one second, which fire a quarter of a second apart.
#include <algorithm>
#include <functional>
#include <string>

#include "designs/openers.h"
#include "designs/redis/zset_scan.h"

namespace tarry::bench {
namespace {

class ShardedZsets final : public ZsetScan {
 public:
  using ZsetScan::ZsetScan;

 private:
  static constexpr std::size_t kShards = 4;
  static constexpr std::int64_t kTimerMs = 1'000;

  static std::string shard(std::size_t number) { return "delayqueue:" + std::to_string(number); }

  std::string zset_of(std::string_view member) const override {
    return shard(std::hash<std::string_view>()(member) % kShards);
  }
  const std::string& scanned() const override { return scanned_; }
  void rest(std::int64_t most_ms) override {
    sleep(kTimerMs / std::int64_t{kShards}, most_ms);
    scanned_ = shard(static_cast<std::size_t>(number({"INCR", "incrkey:delayqueue"})) % kShards);
  }

  std::string scanned_ = shard(0);
};

}  // namespace

Opened open_sharded_zsets(const Place& place, Role /*role*/) {
  return std::make_unique<ShardedZsets>(place);
}

}  // namespace tarry::bench
