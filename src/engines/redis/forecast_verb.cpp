// Forecast: each shard tells which spans have messages, and how many.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engines/redis/shard_calls.h"
#include "engines/redis/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisView;

constexpr std::int64_t kSpans = 500;  // that one call tells

// Where the next call to a shard goes on, by the time that its first one began at.
struct SpanCursor {
  std::string from;
  std::int64_t span = 0;
};

std::uint64_t count_in(RedisView value) noexcept {
  return static_cast<std::uint64_t>(std::max<std::int64_t>(value.integer(), 0));
}

class Spans {
 public:
  explicit Spans(const core::ForecastRequest& request) : request_(request) { clear(); }

  void clear() {
    cursors_.clear();
    found = core::ForecastReply();
    found.buckets.resize(request_.buckets);
  }

  void build(const Place& place, RedisCommand& command) {
    const SpanCursor& cursor = cursors_[place.shard];
    command.add(request_.width.count()).add(static_cast<std::int64_t>(request_.buckets));
    command.add(cursor.span).add(cursor.from).add(kSpans);
  }

  bool read(const Place& place, RedisView reply, bool& again) {
    if (reply.size() < 5 || reply.size() % 2 == 0) return false;
    SpanCursor& cursor = cursors_[place.shard];
    if (cursor.from.empty()) {
      cursor.from = reply[1].text();
      found.due_now += count_in(reply[2]);
      found.later += count_in(reply[3]);
    }
    for (std::size_t i = 5; i < reply.size(); i += 2) {
      const std::uint64_t span = count_in(reply[i]);
      if (span >= found.buckets.size()) return false;
      found.buckets[span] += count_in(reply[i + 1]);
    }
    // Never back: a script that answered nonsense would be asked for good.
    again = reply[4].integer() > cursor.span;
    cursor.span = reply[4].integer();
    return true;
  }

  core::ForecastReply found;

 private:
  const core::ForecastRequest& request_;
  std::map<std::uint32_t, SpanCursor> cursors_;  // by shard
};

}  // namespace

void forecast(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ForecastRequest>(asked->request);
  auto spans = std::make_shared<Spans>(request);
  auto calls = std::make_shared<ShardCalls>(context, asked, request.queue, Script::forecast);
  calls->reads_only = true;
  calls->in_order = true;
  calls->build = [spans](const Place& place, RedisCommand& command) {
    spans->build(place, command);
  };
  calls->read = [spans](const Place& place, RedisView reply, bool& again) {
    return spans->read(place, reply, again);
  };
  calls->moved = [spans] { spans->clear(); };
  calls->done = [asked, spans](std::optional<Error> error) {
    if (error) return asked->fail(std::move(*error));
    asked->reply = std::move(spans->found);
    asked->complete();
  };
  calls->start();
}

}  // namespace tarry::redis
