#include <tarry/metrics.h>

#include <chrono>
#include <cstdint>
#include <mutex>
#include <utility>

#include <tarry/version.h>

#include "metrics/store_meter.h"
#include "metrics/store_metrics.h"
#include "open/handles/ask.h"
#include "open/handles/questions.h"
#include "open/handles/store_state.h"

namespace tarry {

class Metrics::Impl {
 public:
  explicit Impl(const Store& store)
      : state_(store.state()), meter_(std::make_unique<metrics::StoreMeter>(store.engine())) {}

  ~Impl() {
    // In a forked child the meter is leaked: its locks may be held by threads that do not exist
    // there.
    if (detail::state_of(state_).is_in_child()) static_cast<void>(meter_.release());
  }

  [[nodiscard]] Lateness lateness() const {
    Lateness all;
    for (auto& [queue, histogram] : meter_->lateness().lateness()) all.emplace(queue, histogram);
    return all;
  }

  [[nodiscard]] Result<std::string> text() {
    const detail::StoreState& state = detail::state_of(state_);
    const std::uint64_t replies = meter_->lateness().replies();
    const Result<StoreStats> stats = detail::ask(state, detail::ask_store_stats());
    if (!stats) return stats.error();
    const Time now = state.clock() ? state.clock()->now()
                                   : std::chrono::floor<Millis>(std::chrono::system_clock::now());
    metrics::Exposition out;
    const std::lock_guard lock(mutex_);
    metrics::write_store_metrics(out, *stats, *meter_, replies, now, TARRY_VERSION);
    return std::move(out).take();
  }

 private:
  const std::shared_ptr<detail::StoreState> state_;  // keeps the engine, whose claims are watched
  std::mutex mutex_;                                 // guards which queues are shown
  std::unique_ptr<metrics::StoreMeter> meter_;
};

Metrics::Metrics(const Store& store) : impl_(std::make_unique<Impl>(store)) {}
Metrics::~Metrics() = default;

Metrics::Lateness Metrics::lateness() const { return impl_->lateness(); }
Result<std::string> Metrics::text() const { return impl_->text(); }

}  // namespace tarry
