// S15: Kafka's timing wheels. The lowest wheel has 20 buckets of 1 ms. The tick of each further
// wheel is the span of the one below; a wheel is made when it is needed. Buckets that are not empty
// are in a queue, ordered by time, and the clock jumps from one to the next, so empty buckets cost
// nothing. When the time of an upper wheel's bucket comes, its entries move to the wheels below.
#include <algorithm>
#include <array>
#include <limits>
#include <list>
#include <memory>
#include <queue>
#include <string>
#include <unordered_map>
#include <utility>

#include "designs/local/local.h"
#include "designs/openers.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::size_t kKafkaSlots = 20;

struct Bucket {
  std::list<LocalEntry> entries;
  std::int64_t at_ms = -1;  // its time, by which the queue of buckets orders it
};

struct KafkaLevel {
  std::int64_t tick_ms = 1;
  std::array<Bucket, kKafkaSlots> buckets;
  std::unique_ptr<KafkaLevel> above;

  [[nodiscard]] std::int64_t span_ms() const { return tick_ms * std::int64_t{kKafkaSlots}; }
};

class KafkaWheel final : public Local {
 private:
  struct Coming {
    std::int64_t at_ms;
    Bucket* bucket;
    bool operator<(const Coming& other) const { return at_ms > other.at_ms; }
  };
  struct Where {
    Bucket* bucket;
    std::list<LocalEntry>::iterator entry;
  };

  void add(LocalEntry entry) override {
    std::list<LocalEntry> one;
    one.push_back(std::move(entry));
    insert(one);
  }

  // Moves the only entry of `one` into its bucket, without a copy.
  void insert(std::list<LocalEntry>& one) {
    const std::int64_t due = std::max(one.front().due_ms, clock_ms_);
    KafkaLevel* level = &lowest_;
    // A level holds entries that are due within its span, counted from its own tick.
    while (due >= clock_ms_ - clock_ms_ % level->tick_ms + level->span_ms()) {
      if (!level->above) {
        level->above = std::make_unique<KafkaLevel>();
        level->above->tick_ms = level->span_ms();
      }
      level = level->above.get();
    }
    const std::int64_t tick = due / level->tick_ms;
    Bucket& bucket = level->buckets[static_cast<std::size_t>(tick) % kKafkaSlots];
    if (bucket.at_ms != tick * level->tick_ms) {
      bucket.at_ms = tick * level->tick_ms;
      coming_.push({bucket.at_ms, &bucket});
    }
    where_[one.front().key] = {&bucket, one.begin()};
    bucket.entries.splice(bucket.entries.end(), one);
  }

  void take(std::int64_t now, std::size_t max, Taken& taken) override {
    while (taken.size() < max) {
      if (!due_.empty()) {
        where_.erase(due_.front().key);
        taken.payloads.push_back(std::move(due_.front().payload));
        due_.pop_front();
        continue;
      }
      if (coming_.empty() || coming_.top().at_ms > now) return;
      pour(*coming_.top().bucket);
    }
  }

  void pour(Bucket& bucket) {
    clock_ms_ = std::max(clock_ms_, bucket.at_ms);
    bucket.at_ms = -1;
    coming_.pop();
    std::list<LocalEntry> all = std::move(bucket.entries);
    bucket.entries.clear();
    while (!all.empty()) {
      std::list<LocalEntry> one;
      one.splice(one.begin(), all, all.begin());
      if (one.front().due_ms > clock_ms_) {
        insert(one);
      } else {
        where_.erase(one.front().key);
        due_.splice(due_.end(), one);
      }
    }
  }

  std::int64_t next_ms() override {
    if (!due_.empty()) return 0;
    return coming_.empty() ? std::numeric_limits<std::int64_t>::max() / 2'000'000
                           : coming_.top().at_ms;
  }

  bool remove(std::string_view key, LocalEntry& entry) override {
    const auto found = where_.find(std::string(key));
    if (found == where_.end()) return false;
    entry = std::move(*found->second.entry);
    found->second.bucket->entries.erase(found->second.entry);
    where_.erase(found);
    return true;
  }

  KafkaLevel lowest_;
  std::priority_queue<Coming> coming_;
  std::list<LocalEntry> due_;
  std::unordered_map<std::string, Where> where_;
  std::int64_t clock_ms_ = now_ms();
};

}  // namespace

std::unique_ptr<Compared> open_kafka_wheel(const Place& /*place*/, Role /*role*/) {
  return std::make_unique<KafkaWheel>();
}

}  // namespace tarry::bench
