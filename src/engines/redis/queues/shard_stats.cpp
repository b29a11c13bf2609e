#include "engines/redis/queues/shard_stats.h"

#include <algorithm>
#include <charconv>

#include "engines/redis/queues/directory.h"
#include "engines/redis/queues/rate_bucket.h"
#include "engines/redis/records/told_time.h"

namespace tarry::redis {
namespace {

using net::RedisView;

struct CounterField {
  std::string_view name;
  std::uint64_t QueueCounters::* field;
};
constexpr CounterField kCounters[] = {
    {"accepted", &QueueCounters::accepted},     {"acked", &QueueCounters::acked},
    {"cancelled", &QueueCounters::cancelled},   {"replaced", &QueueCounters::replaced},
    {"expired", &QueueCounters::expired},       {"purged", &QueueCounters::purged},
    {"moved_away", &QueueCounters::moved_away}, {"claims", &QueueCounters::claims},
    {"retries", &QueueCounters::retries},       {"releases", &QueueCounters::releases},
    {"run_outs", &QueueCounters::run_outs},     {"buries", &QueueCounters::buries},
    {"revives", &QueueCounters::revives},       {"reschedules", &QueueCounters::reschedules},
    {"damaged", &QueueCounters::damaged}};
constexpr std::string_view kFrom = "from:";  // scripts/reshard_count.lua
constexpr std::array<std::string_view, 3> kLeft = {"left_w", "left_d", "left_r"};
constexpr std::array<std::string_view, 3> kCame = {"came_w", "came_d", "came_r"};

std::uint64_t unsigned_of(RedisView value) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value.integer(), 0));
}

void add_to(QueueCounters& counters, RedisView fields) {
  for (const auto& [name, value] : counters_in(fields)) {
    const auto* counter = std::ranges::find(kCounters, name, &CounterField::name);
    counters.*counter->field += static_cast<std::uint64_t>(value);
  }
}

// Adds `more` to `value`. If the sum is below 0, `value` is 0, and `more` keeps the rest for the
// next call.
void add_signed(std::uint64_t& value, std::int64_t& more) {
  const std::int64_t sum = static_cast<std::int64_t>(value) + more;
  value = static_cast<std::uint64_t>(std::max<std::int64_t>(sum, 0));
  more = std::min<std::int64_t>(sum, 0);
}

}  // namespace

Counted counters_in(RedisView fields) {
  Counted found;
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const auto* counter = std::ranges::find(kCounters, fields[i].text(), &CounterField::name);
    if (counter != std::end(kCounters)) {
      found.emplace_back(counter->name, std::max<std::int64_t>(fields[i + 1].integer(), 0));
    }
  }
  return found;
}

std::int64_t number_in(RedisView fields, std::string_view name) {
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text() == name) return fields[i + 1].integer();
  }
  return 0;
}

std::string_view text_in(RedisView fields, std::string_view name) {
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i].text() == name) return fields[i + 1].text();
  }
  return {};
}

// The queue's first open shard has the bucket. While claims have not brought it there in a reshard,
// the first closed shard has it.
void ShardStats::note_bucket(const Place& place, RedisView fields, std::int64_t now_ms) {
  const std::string_view bucket = text_in(fields, "bucket");
  const std::pair rank(place.closed, place.shard);
  if (bucket.empty() || (bucket_of_ && *bucket_of_ < rank)) return;
  bucket_of_ = rank;
  stats_.rate_next.reset();
  if (stats_.settings.rate == DeliveryRate()) return;
  if (const auto next = next_token_ms(stats_.settings.rate, bucket, now_ms)) {
    stats_.rate_next = Time(Millis(*next));
  }
}

bool ShardStats::add(const Place& place, RedisView reply) {
  if (reply.size() != 10) return false;
  stats_.settings = read_settings(reply[1].text());
  if (!reply[2].is_nil()) {
    stats_.paused = true;
    if (!reply[2].text().empty()) stats_.paused_until = Time(Millis(reply[2].integer()));
  }
  stats_.scheduled += unsigned_of(reply[3]);
  stats_.ready += unsigned_of(reply[4]);
  stats_.leased += unsigned_of(reply[5]);
  stats_.dead += unsigned_of(reply[6]);
  stats_.remembered += unsigned_of(reply[7]);
  if (!reply[8].text().empty()) {
    const Time oldest{Millis(reply[8].integer())};
    if (!stats_.oldest_ready || oldest < *stats_.oldest_ready) stats_.oldest_ready = oldest;
  }
  const RedisView fields = reply[9];
  note_bucket(place, fields, told_time(reply[0]));
  if (!place.closed) ++open_;
  if (place.closed) {
    add_to(closed_[place.shard], fields);
    for (std::size_t i = 0; i < kLeft.size(); ++i) on_the_way_[i] += number_in(fields, kLeft[i]);
    return true;
  }
  add_to(stats_.counters, fields);
  for (std::size_t i = 0; i < kCame.size(); ++i) on_the_way_[i] -= number_in(fields, kCame[i]);
  for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
    const std::string_view name = fields[i].text();
    std::uint32_t shard = 0;
    if (!name.starts_with(kFrom)) continue;
    const char* end = name.data() + name.size();
    if (std::from_chars(name.data() + kFrom.size(), end, shard).ptr == end) added_.insert(shard);
  }
  return true;
}

QueueStats ShardStats::take(std::string queue) {
  stats_.queue = std::move(queue);
  stats_.shards = std::max(open_, 1u);
  if (closed_.empty()) return std::move(stats_);
  for (const auto& [shard, counters] : closed_) {
    if (added_.contains(shard)) continue;
    for (const CounterField& counter : kCounters) {
      stats_.counters.*counter.field += counters.*counter.field;
    }
  }
  add_signed(stats_.scheduled, on_the_way_[0]);
  add_signed(stats_.ready, on_the_way_[0]);
  add_signed(stats_.dead, on_the_way_[1]);
  add_signed(stats_.remembered, on_the_way_[2]);
  return std::move(stats_);
}

}  // namespace tarry::redis
