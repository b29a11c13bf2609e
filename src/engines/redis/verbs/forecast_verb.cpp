// Forecast: each shard answers which spans have messages, and how many.
#include <memory>
#include <optional>
#include <utility>

#include "engines/redis/verbs/forecast_spans.h"
#include "engines/redis/verbs/shard_calls.h"
#include "engines/redis/verbs/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisView;

constexpr std::int64_t kSpans = 500;  // in the answer of one call

}  // namespace

void forecast(Context& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ForecastRequest>(asked->request);
  auto spans = std::make_shared<ForecastSpans>(request);
  auto calls = std::make_shared<ShardCalls>(context, asked, request.queue, Script::forecast);
  calls->reads_only = true;
  calls->in_order = true;
  calls->build = [spans](const Place& place, RedisCommand& command) {
    spans->ask(place.shard, kSpans, command);
  };
  calls->read = [spans](const Place& place, RedisView reply, bool& again) {
    return spans->read(place.shard, reply, again);
  };
  calls->moved = [spans] { spans->clear(); };
  calls->done = [asked, spans](std::optional<Error> error) {
    if (error) return asked->fail(std::move(*error));
    asked->reply = std::move(spans->reply());
    asked->complete();
  };
  calls->start();
}

}  // namespace tarry::redis
