#include "relay/relay_threads.h"

#include <algorithm>
#include <random>
#include <utility>

#include "base/threads/thread.h"
#include "core/rules/queue_pattern.h"
#include "core/rules/validation.h"

namespace tarry::relay {
namespace {

// Divides `all` into `count` parts, and returns the part with this number.
std::uint32_t share(std::uint32_t all, std::uint32_t count, std::uint32_t number) {
  return all / count + (number < all % count ? 1 : 0);
}

RelayOptions part_of(const RelayThreadsOptions& options, std::uint32_t number, bool looks_out) {
  RelayOptions own = options.relay;
  own.in_flight = share(own.in_flight, options.threads, number);
  own.rate = share(own.rate, options.threads, number);
  own.in_flight_bytes = std::max<std::uint64_t>(1, own.in_flight_bytes / options.threads);
  if (looks_out) own.queues.clear();
  return own;
}

BreakerState better(BreakerState a, BreakerState b) {
  for (const BreakerState good : {BreakerState::closed, BreakerState::half_open}) {
    if (a == good || b == good) return good;
  }
  return BreakerState::open;
}

Error too_many_threads(std::uint32_t threads, const std::string& of, std::uint32_t there) {
  return {ErrorCode::invalid_argument, "threads " + std::to_string(threads) +
                                           " must not be more than " + of + ", which is " +
                                           std::to_string(there) + ": each needs one at least"};
}

}  // namespace

void add(RelayStats& sum, const RelayStats& one) {
  static_cast<leases::Counts&>(sum) += one;
  sum.claimed += one.claimed;
  sum.confirmed += one.confirmed;
  sum.failed += one.failed;
  sum.in_flight += one.in_flight;
  sum.openings += one.openings;
  sum.queues = std::max(sum.queues, one.queues);
  sum.breaker = better(sum.breaker, one.breaker);
  sum.lag = std::max(sum.lag, one.lag);
  sum.lags.add(one.lags);
  if (!one.last_error.empty()) sum.last_error = one.last_error;
}

Result<void> check(const RelayThreadsOptions& options) {
  if (auto good = check(options.relay); !good) return good;
  const std::uint32_t threads = options.threads;
  if (auto error = core::check_number("threads", threads, 1, kMaxThreads)) return *std::move(error);
  const RelayOptions& relay = options.relay;
  if (threads > relay.in_flight) return too_many_threads(threads, "in_flight", relay.in_flight);
  if (relay.rate > 0 && threads > relay.rate) return too_many_threads(threads, "rate", relay.rate);
  return {};
}

Result<std::unique_ptr<RelayThreads>> RelayThreads::make(
    core::Engine& engine, const RelayThreadsOptions& options, const MakeSink& make_sink,
    Hooks hooks, std::unique_ptr<Coordination> coordination) {
  auto threads = std::unique_ptr<RelayThreads>(new RelayThreads(options.name, std::move(hooks)));
  const bool looks_out =
      coordination != nullptr || std::ranges::any_of(options.relay.queues, core::is_beginning);
  std::random_device random;
  for (std::uint32_t i = 0; i < options.threads; ++i) {
    auto sink = make_sink();
    if (!sink) return std::move(sink).error();
    auto relay = std::make_unique<Relay>(
        engine, **sink, part_of(options, i, looks_out), random(),
        RelayHooks{[threads = threads.get()](bool open, const std::string& why) {
                     threads->breaker(open, why);
                   },
                   [threads = threads.get()](const std::optional<Error>& outage) {
                     threads->outage(outage);
                   },
                   [threads = threads.get()](Mishap mishap, const std::string& why) {
                     threads->mishap(mishap, why);
                   },
                   // If one thread can no longer use the store, no thread can. The relay ends,
                   // because other relays may have its shards by now.
                   [threads = threads.get()] { threads->stop(); }});
    threads->members_.push_back({*std::move(sink), std::move(relay)});
  }
  if (looks_out) {
    threads->discovery_ = std::make_unique<QueueDiscovery>(
        engine, options.relay.queues, std::move(coordination), threads->discovery_hooks());
  }
  return Result<std::unique_ptr<RelayThreads>>(std::move(threads));
}

RelayThreads::~RelayThreads() {
  stop();
  threads_.clear();
  discovery_.reset();
}

QueueDiscovery::Hooks RelayThreads::discovery_hooks() {
  return {[this](const std::vector<Share>& shares) {
            for (const Member& member : members_) member.relay->serve(shares);
          },
          [this](std::size_t count) {
            if (hooks_.on_queues) hooks_.on_queues(count);
          },
          [this](const Coordination::View& view, std::size_t units) {
            if (hooks_.on_view) hooks_.on_view(view, units);
          },
          [this](const std::optional<Error>& error) {
            if (hooks_.on_trouble) hooks_.on_trouble(error);
          },
          [this] { stop_.request_stop(); }};
}

void RelayThreads::start() {
  const std::lock_guard lock(mutex_);
  running_ = members_.size();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    threads_.push_back(base::start_jthread({name_, i}, [this, i] { work(i); }));
  }
  if (discovery_) discovery_->start();
}

void RelayThreads::stop() {
  stop_.request_stop();
  if (discovery_) discovery_->leave();
}

void RelayThreads::abandon() {
  for (const Member& member : members_) member.relay->abandon();
}

bool RelayThreads::is_up() const {
  const std::lock_guard lock(mutex_);
  return running_ > 0;
}

RelayStats RelayThreads::stats() const {
  RelayStats sum;
  sum.breaker = BreakerState::open;
  for (const Member& member : members_) add(sum, member.relay->stats());
  if (discovery_ && sum.last_error.empty()) sum.last_error = discovery_->last_error();
  return sum;
}

void RelayThreads::work(std::size_t number) {
  const auto ended = members_[number].relay->run(stop_.get_token());
  stop();  // if the store is closed, it is closed for all threads
  std::unique_lock lock(mutex_);
  if (!ended && !error_) error_ = ended.error();
  if (--running_ > 0) return;
  const Result<void> all = error_ ? Result<void>(*error_) : Result<void>();
  lock.unlock();
  if (hooks_.on_end) hooks_.on_end(all);
}

void RelayThreads::breaker(bool open, const std::string& last_error) {
  const std::lock_guard lock(mutex_);
  const std::size_t before = std::exchange(open_, open ? open_ + 1 : open_ - 1);
  if (before != members_.size() && open_ != members_.size()) return;
  if (hooks_.on_breaker) hooks_.on_breaker(open, last_error);
}

void RelayThreads::outage(const std::optional<Error>& outage) {
  const std::lock_guard lock(mutex_);
  const bool is_news = outage ? away_++ == 0 : --away_ == 0;
  if (is_news && hooks_.on_outage) hooks_.on_outage(outage);
}

void RelayThreads::mishap(Mishap mishap, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  if (hooks_.on_mishap) hooks_.on_mishap(mishap, reason);
}

}  // namespace tarry::relay
