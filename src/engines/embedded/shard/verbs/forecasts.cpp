#include "engines/embedded/shard/verbs/forecasts.h"

#include <algorithm>
#include <mutex>
#include <utility>
#include <variant>

namespace tarry::embedded {

void Forecasts::execute(const core::ForecastRequest& request, const Part& part) {
  const QueueId queue = shard_.state.queues.find(request.queue);
  if (queue == kNoQueue) return shard_.job.end(part.op);
  Forecast forecast;
  forecast.op = part.op;
  forecast.queue = queue;
  forecast.asked_ms = shard_.now.realtime_ms;
  forecast.from_ms = request.from ? request.from->time_since_epoch().count() : forecast.asked_ms;
  forecast.width_ms = request.width.count();
  forecast.end = shard_.state.slab.end();
  forecast.found.buckets.resize(request.buckets);
  forecasts_.push_back(std::move(forecast));
}

bool Forecasts::run_slice() {
  if (forecasts_.empty()) return false;
  Forecast& forecast = forecasts_.front();
  const auto until = static_cast<Handle>(std::min<std::uint64_t>(
      forecast.end, std::uint64_t{forecast.cursor} + shard_.config.slices.sweep));
  for (; forecast.cursor < until; ++forecast.cursor) {
    if (!shard_.state.slab.is_live(forecast.cursor)) continue;
    const Message& message = shard_.state.slab[forecast.cursor];
    if (message.queue == forecast.queue) count(message, forecast);
  }
  if (forecast.cursor < forecast.end) return true;
  end(forecast);
  forecasts_.pop_front();
  return !forecasts_.empty();
}

void Forecasts::count(const Message& message, Forecast& forecast) noexcept {
  if (message.stage() == Stage::ready) {
    ++forecast.found.due_now;
  } else if (message.stage() == Stage::scheduled) {
    // A message that fell due after the question was asked counts as if it were due next.
    const std::int64_t due = std::max(message.due_ms(), forecast.asked_ms + 1);
    if (due <= forecast.from_ms) {
      ++forecast.found.due_now;
      return;
    }
    const auto bucket =
        static_cast<std::uint64_t>((due - 1 - forecast.from_ms) / forecast.width_ms);
    auto& buckets = forecast.found.buckets;
    ++(bucket < buckets.size() ? buckets[bucket] : forecast.found.later);
  }
}

void Forecasts::end(const Forecast& forecast) {
  {
    const std::scoped_lock lock(forecast.op->merge);  // the other shards add theirs
    auto& reply = std::get<core::ForecastReply>(forecast.op->reply);
    reply.due_now += forecast.found.due_now;
    reply.later += forecast.found.later;
    for (std::size_t i = 0; i < reply.buckets.size(); ++i) {
      reply.buckets[i] += forecast.found.buckets[i];
    }
  }
  shard_.job.end(forecast.op);
}

void Forecasts::forget(QueueId queue) noexcept {
  for (Forecast& forecast : forecasts_) {
    if (forecast.queue == queue) forecast.cursor = forecast.end;
  }
}

void Forecasts::fail_all(const Error& error) {
  for (const Forecast& forecast : std::exchange(forecasts_, {})) {
    forecast.op->fail(error);
    shard_.job.end(forecast.op);
  }
}

}  // namespace tarry::embedded
