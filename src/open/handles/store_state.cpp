#include "open/handles/store_state.h"

#include <utility>

#include "base/threads/thread.h"
#include "core/engine_parts/closable_engine.h"

namespace tarry::detail {

StoreState::StoreState(std::unique_ptr<core::Engine> engine, Executor executor,
                       std::optional<ManualClock> clock)
    : engine_(std::move(engine)),
      executor_(executor ? std::make_shared<const Executor>(std::move(executor)) : nullptr),
      clock_(std::move(clock)),
      closer_(std::make_unique<core::AnswerThread>(base::ThreadName("tarry-close"))) {}

StoreState::~StoreState() {
  if (!is_in_child()) return;
  static_cast<void>(engine_.release());
  static_cast<void>(closer_.release());
}

void StoreState::close(const std::shared_ptr<StoreState>& state) {
  if (state->is_in_child()) return;
  if (core::on_engine_thread()) {
    state->closer_->post([state] { state->close_engine(); });
  } else {
    state->close_engine();
  }
}

void StoreState::close_engine() {
  {
    const std::lock_guard lock(closing_);
    engine_->close();
  }
  closer_->retire();
}

const StoreState& state_of(const std::shared_ptr<StoreState>& state) noexcept {
  if (state) return *state;
  // Never destroyed, because a handle may be used until the program ends.
  static StoreState* const closed = [] {
    auto* const made = new StoreState(std::make_unique<core::ClosableEngine>(), {}, {});
    made->close_engine();
    return made;
  }();
  return *closed;
}

}  // namespace tarry::detail
