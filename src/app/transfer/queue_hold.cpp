#include "app/transfer/queue_hold.h"

#include <chrono>
#include <utility>
#include <variant>

#include "base/text/text.h"
#include "open/handles/ask.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

constexpr Millis kHold = 24h * 365 * 40;
constexpr Millis kLongestPause = 24h * 365 * 30;

Millis length_of(Hold hold) { return hold == Hold::whole ? 2 * kHold : kHold; }

}  // namespace

Time wall_clock() { return std::chrono::time_point_cast<Millis>(std::chrono::system_clock::now()); }

bool is_held(const QueueStats& stats, Time now) {
  return stats.paused && stats.paused_until && *stats.paused_until > now + kLongestPause;
}

bool is_held_whole(const QueueStats& stats, Time now) {
  return stats.paused && stats.paused_until && *stats.paused_until > now + kHold + kLongestPause;
}

PauseState pause_before(const QueueStats& stats, Time now) {
  if (!is_held(stats, now)) return {stats.paused, stats.paused_until};
  const Hold hold = is_held_whole(stats, now) ? Hold::whole : Hold::filling;
  const Time until = *stats.paused_until - length_of(hold);
  if (until <= now) return {};
  return {true, until};
}

std::optional<Time> hold_of(const PauseState& before, Time now, Hold hold) {
  if (before.paused && !before.until) return std::nullopt;
  // A queue that was not paused gets the former end "a second ago", so that the run that ends the
  // hold finds a pause that is over, even if it runs at once.
  return before.until.value_or(now - 1s) + length_of(hold);
}

Result<void> set_pause(core::Engine& engine, const std::string& queue, const PauseState& pause) {
  core::Request request = core::ResumeRequest{queue};
  if (pause.paused) request = core::PauseRequest{queue, pause.until};
  const auto reply = detail::wait_for(engine, std::move(request));
  if (!reply) return reply.error();
  return {};
}

Result<QueueStats> stats_of(core::Engine& engine, const std::string& queue) {
  auto reply = detail::wait_for(engine, core::StatsRequest{queue});
  if (!reply) return std::move(reply).error();
  auto& queues = std::get<StoreStats>(*reply).queues;
  if (queues.empty()) {
    return Unexpected(ErrorCode::not_found, "there is no queue " + base::quoted(queue));
  }
  return std::move(queues.front());
}

}  // namespace tarry::app
