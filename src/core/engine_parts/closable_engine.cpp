#include "core/engine_parts/closable_engine.h"

#include <utility>

namespace tarry::core {
namespace {

Error store_is_closed() { return {ErrorCode::closed, "the store is closed"}; }

}  // namespace

ClosableEngine::ClosableEngine(std::unique_ptr<Engine> inner, Spreads spreads, Now now)
    : watches_(inner->own_claim_watches()),
      capabilities_(inner->capabilities()),
      spreads_(spreads),
      now_(std::move(now)),
      inner_(std::move(inner)) {
  answers_.retire();
}

ClosableEngine::ClosableEngine() : watches_(own_claim_watches()), closed_(true) {
  answers_.retire();
}

ClosableEngine::~ClosableEngine() { close(); }

Ticket ClosableEngine::submit(Request request, Completion completion) {
  if (spreads_ == Spreads::here && spreads(request)) {
    return submit_spread(calendars_, capabilities_.forecast, std::move(request),
                         std::move(completion), now_, [this](Request part, Completion done) {
                           return pass_on(std::move(part), std::move(done));
                         });
  }
  return pass_on(std::move(request), std::move(completion));
}

Ticket ClosableEngine::pass_on(Request request, Completion completion) {
  const std::shared_lock lock(mutex_);
  if (inner_) return inner_->submit(std::move(request), std::move(completion));
  answers_.post([completion = std::move(completion)]() mutable { completion(store_is_closed()); });
  return 0;
}

void ClosableEngine::submit_waiting(Request request, Completion completion) {
  if (spreads_ == Spreads::here && spreads(request)) {
    static_cast<void>(submit(std::move(request), std::move(completion)));
    return;
  }
  {
    const std::shared_lock lock(mutex_);
    if (inner_) {
      inner_->submit_waiting(std::move(request), std::move(completion));
      return;
    }
  }
  completion(store_is_closed());
}

void ClosableEngine::withdraw(Ticket ticket) {
  const std::shared_lock lock(mutex_);
  if (inner_) inner_->withdraw(ticket);
}

Capabilities ClosableEngine::capabilities() const {
  const std::shared_lock lock(mutex_);
  return inner_ ? inner_->capabilities() : capabilities_;
}

void ClosableEngine::close() {
  closed_ = true;
  const std::scoped_lock lock(closing_);
  if (!inner_) return;
  inner_->close();  // verbs may run meanwhile: it answers them
  std::unique_ptr<Engine> gone;
  {
    const std::unique_lock alone(mutex_);
    gone = std::move(inner_);
  }
}

}  // namespace tarry::core
