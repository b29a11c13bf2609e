#include "server/beanstalk/client.h"

#include <algorithm>
#include <utility>

#include "core/limits.h"

namespace tarry::beanstalk {

void add_release(core::SettleRequest& request, const Reservation& reservation) {
  core::SettleItem& item = request.items.emplace_back();
  item.receipt = core::append(request.bytes, reservation.receipt);
  item.action = core::SettleAction::release;
  if (!reservation.was_delayed) return;
  item.action = core::SettleAction::retry;
  item.delay = Millis(0);
}

Client::Client(Shared& shared) : shared_(shared) {
  ++shared_.tubes.at(used_).using_it;
  ++shared_.tubes.at(used_).watching;
  ++shared_.counts.connections;
  ++shared_.counts.all_connections;
}

void Client::use(std::string_view tube) {
  ++shared_.tubes.at(tube).using_it;
  --shared_.tubes.at(used_).using_it;
  shared_.tubes.tidy(used_);
  used_ = tube;
}

void Client::watch(std::string_view tube) {
  if (std::ranges::find(watched_, tube) != watched_.end()) return;
  watched_.emplace_back(tube);
  ++shared_.tubes.at(tube).watching;
}

bool Client::ignore(std::string_view tube) {
  const auto found = std::ranges::find(watched_, tube);
  if (found == watched_.end()) return true;
  if (watched_.size() < 2) return false;
  // As beanstalkd: the last one takes the place, and the list has that order.
  std::swap(*found, watched_.back());
  watched_.pop_back();
  --shared_.tubes.at(tube).watching;
  shared_.tubes.tidy(tube);
  return true;
}

void Client::count_producer() {
  if (!std::exchange(producer_, true)) ++shared_.counts.producers;
}

void Client::count_worker() {
  if (!std::exchange(worker_, true)) ++shared_.counts.workers;
}

void Client::begin_waiting() {
  if (std::exchange(waiting_, true)) return;
  ++shared_.counts.waiting;
  for (const std::string& tube : watched_) ++shared_.tubes.at(tube).waiting;
}

void Client::end_waiting() noexcept {
  if (!std::exchange(waiting_, false)) return;
  --shared_.counts.waiting;
  for (const std::string& name : watched_) {
    if (Tube* tube = shared_.tubes.find(name)) --tube->waiting;
  }
}

std::optional<std::int64_t> Client::soonest_end(std::int64_t now_ms) {
  std::optional<std::int64_t> soonest;
  std::erase_if(reserved_, [&](const auto& entry) {
    const std::int64_t ends = entry.second.ends_ms;
    if (ends <= now_ms) return true;
    soonest = std::min(ends, soonest.value_or(ends));
    return false;
  });
  return soonest;
}

Reservation* Client::find(std::uint64_t job) noexcept {
  const auto found = reserved_.find(job);
  return found != reserved_.end() ? &found->second : nullptr;
}

void Client::keep(std::uint64_t job, Reservation reservation) {
  reserved_.insert_or_assign(job, std::move(reservation));
}

std::optional<Reservation> Client::take(std::uint64_t job) {
  const auto found = reserved_.find(job);
  if (found == reserved_.end()) return std::nullopt;
  std::optional<Reservation> taken = std::move(found->second);
  reserved_.erase(found);
  return taken;
}

std::vector<core::SettleRequest> Client::leave() {
  end_waiting();
  --shared_.counts.connections;
  if (producer_) --shared_.counts.producers;
  if (worker_) --shared_.counts.workers;
  --shared_.tubes.at(used_).using_it;
  shared_.tubes.tidy(used_);
  for (const std::string& tube : watched_) {
    --shared_.tubes.at(tube).watching;
    shared_.tubes.tidy(tube);
  }
  std::vector<core::SettleRequest> releases;
  for (const auto& [job, reservation] : reserved_) {
    if (releases.empty() || releases.back().items.size() == core::kMaxBatch) {
      releases.emplace_back();
    }
    add_release(releases.back(), reservation);
    ++shared_.notes.at(job, reservation.tube, reservation.key).closes;
  }
  reserved_.clear();
  return releases;
}

}  // namespace tarry::beanstalk
