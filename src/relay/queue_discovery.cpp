#include "relay/queue_discovery.h"

#include <algorithm>
#include <utility>

#include "base/threads/thread.h"
#include "core/reply_as.h"
#include "core/rules/queue_pattern.h"
#include "leases/settlement.h"

namespace tarry::relay {

std::vector<Found> find_queues(const std::vector<std::string>& patterns,
                               const std::vector<QueueStats>& there) {
  std::vector<Found> found;
  for (const QueueStats& queue : there) {
    const auto covers = [&](const std::string& one) { return core::matches(one, queue.queue); };
    if (std::ranges::any_of(patterns, covers)) found.push_back({queue.queue, queue.shards});
  }
  for (const std::string& pattern : patterns) {
    if (core::is_beginning(pattern)) continue;
    if (std::ranges::find(found, pattern, &Found::queue) == found.end()) {
      found.push_back({pattern, 1});
    }
  }
  std::ranges::sort(found, {}, &Found::queue);
  return found;
}

QueueDiscovery::QueueDiscovery(core::Engine& engine, std::vector<std::string> patterns,
                               std::unique_ptr<Coordination> coordination, Hooks hooks,
                               Millis every)
    : engine_(engine),
      patterns_(std::move(patterns)),
      hooks_(std::move(hooks)),
      every_(every),
      coordination_(std::move(coordination)) {}

QueueDiscovery::~QueueDiscovery() {
  thread_ = {};  // ends first, because the thread may be calling the coordination
  coordination_.reset();
}

void QueueDiscovery::start() {
  if (coordination_) deaf_at_ = Clock::now() + coordination_->session();
  if (coordination_) {
    coordination_->start({[this](const Coordination::View& view) {
                            const std::lock_guard lock(mutex_);
                            if (left_) return;
                            view_ = view;
                            tell();
                            hooks_.on_view(view, found_ ? units_of(*found_).size() : 0);
                          },
                          hooks_.on_trouble});
  }
  thread_ =
      base::start_jthread("tarry-discovery", [this](const std::stop_token& stop) { run(stop); });
}

void QueueDiscovery::leave() {
  const std::lock_guard lock(mutex_);
  left_ = true;
  if (coordination_) coordination_->leave();
}

std::string QueueDiscovery::last_error() const {
  const std::lock_guard lock(mutex_);
  return last_error_;
}

void QueueDiscovery::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    look(stop);
    std::unique_lock lock(mutex_);
    over_.wait_for(lock, stop, every_, [] { return false; });
  }
}

void QueueDiscovery::look(const std::stop_token& stop) {
  const auto answer = std::make_shared<Answer>();
  engine_.submit(core::StatsRequest{.queue = {}, .names_only = true},
                 [answer](Result<core::Reply> reply) {
                   auto stats = core::reply_as<StoreStats>(std::move(reply));
                   const std::lock_guard lock(answer->mutex);
                   if (stats) {
                     answer->queues = std::move(stats->queues);
                   } else {
                     answer->queues = std::move(stats).error();
                   }
                   answer->changed.notify_all();
                 });
  std::unique_lock lock(answer->mutex);
  if (!answer->changed.wait(lock, stop, [&] { return answer->queues.has_value(); })) return;
  take(*answer->queues);
}

void QueueDiscovery::take(const Result<std::vector<QueueStats>>& queues) {
  const std::lock_guard lock(mutex_);
  if (left_) return;
  if (!queues) {
    // The queues found before are still served; claims will show whether the store works.
    if (queues.error().code == ErrorCode::closed) return hooks_.on_closed();
    last_error_ = leases::fit_reason("the queues cannot be looked up: " + queues.error().message);
    return;
  }
  last_error_.clear();
  found_ = find_queues(patterns_, *queues);
  if (coordination_) coordination_->offer(units_of(*found_));
  tell();
}

void QueueDiscovery::tell() {
  if (left_ || !found_) return;
  if (told_of_none_ != found_->empty()) {
    told_of_none_ = found_->empty();
    hooks_.on_queues(found_->size());
  }
  if (coordination_ && !view_ && Clock::now() < deaf_at_) return;
  auto shares = view_ ? shares_of(*found_, view_->mine) : whole(*found_);
  if (told_ == shares) return;
  told_ = std::move(shares);
  hooks_.on_shares(*told_);
}

}  // namespace tarry::relay
