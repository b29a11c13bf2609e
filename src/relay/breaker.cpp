#include "relay/breaker.h"

#include <algorithm>

namespace tarry::relay {

Breaker::Breaker(BreakerOptions options, std::uint32_t seed)
    : options_(options), chance_(seed), pause_(options.least) {}

std::optional<Moment> Breaker::until() const noexcept {
  if (state_ != BreakerState::open) return std::nullopt;
  return until_;
}

void Breaker::advance(Moment now) noexcept {
  if (state_ == BreakerState::open && now >= until_) state_ = BreakerState::half_open;
}

void Breaker::worked() noexcept {
  if (state_ == BreakerState::open) return;
  state_ = BreakerState::closed;
  pause_ = options_.least;
  failing_.clear();
}

void Breaker::answered() noexcept {
  if (state_ == BreakerState::half_open) worked();
}

void Breaker::failed(std::uint64_t id, Moment now) {
  if (state_ == BreakerState::open) return;
  failing_.insert(id);
  if (state_ == BreakerState::half_open || failing_.size() >= options_.failures) open(now);
}

void Breaker::down(Moment now) {
  if (state_ != BreakerState::open) open(now);
}

void Breaker::open(Moment now) {
  state_ = BreakerState::open;
  ++openings_;
  failing_.clear();
  const auto half = pause_.count() / 2;
  std::uniform_int_distribution<Millis::rep> spread(0, pause_.count() - half);
  until_ = now + Millis(half + spread(chance_));
  pause_ = std::min(pause_ * 2, options_.most);
}

}  // namespace tarry::relay
