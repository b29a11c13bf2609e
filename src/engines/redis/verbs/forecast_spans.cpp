#include "engines/redis/verbs/forecast_spans.h"

#include <algorithm>

namespace tarry::redis {
namespace {

std::uint64_t count_in(net::RedisView value) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value.integer(), 0));
}

}  // namespace

void ForecastSpans::clear() {
  cursors_.clear();
  reply_ = core::ForecastReply();
  reply_.buckets.resize(request_.buckets);
}

void ForecastSpans::ask(std::uint32_t shard, std::int64_t most, net::RedisCommand& command) {
  const Cursor& cursor = cursors_[shard];
  command.add(request_.width.count()).add(static_cast<std::int64_t>(request_.buckets));
  command.add(cursor.span).add(cursor.moment).add(most);
  if (request_.from) {
    command.add(request_.from->time_since_epoch().count());
  } else {
    command.add("");
  }
}

bool ForecastSpans::read(std::uint32_t shard, net::RedisView told, bool& again) {
  if (told.size() < 5 || told.size() % 2 == 0) return false;
  Cursor& cursor = cursors_[shard];
  if (cursor.moment.empty()) {
    cursor.moment = told[1].text();
    reply_.due_now += count_in(told[2]);
    reply_.later += count_in(told[3]);
  }
  for (std::size_t i = 5; i < told.size(); i += 2) {
    const std::uint64_t span = count_in(told[i]);
    if (span >= reply_.buckets.size()) return false;
    reply_.buckets[span] += count_in(told[i + 1]);
  }
  // A span must not go back. Otherwise a script that answers nonsense would be asked for ever.
  again = told[4].integer() > cursor.span;
  cursor.span = told[4].integer();
  return true;
}

}  // namespace tarry::redis
