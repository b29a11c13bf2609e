#include "core/engine_parts/waiting_count.h"

#include <string>

namespace tarry::core {
namespace {

std::uint64_t names_of(const ClaimRequest& claim) noexcept {
  return claim.queues.size() + claim.keys.size();
}

}  // namespace

MaybeError WaitingCount::begin(const ClaimRequest& claim) {
  const std::uint64_t names = names_of(claim);
  const std::scoped_lock lock(mutex_);
  if (claims_ >= max_claims_) {
    return Error{ErrorCode::unavailable,
                 std::to_string(claims_) + " claims wait at the store, and its limit is " +
                     std::to_string(max_claims_) + "; claim without a wait, or try again later"};
  }
  if (names_ + names > max_names_) {
    return Error{ErrorCode::unavailable,
                 "the claims that wait at the store would name " + std::to_string(names_ + names) +
                     " queues and keys with this one, and its limit is " +
                     std::to_string(max_names_) +
                     "; claim without a wait, name fewer, or try again later"};
  }
  ++claims_;
  names_ += names;
  return std::nullopt;
}

void WaitingCount::end(const ClaimRequest& claim) noexcept {
  const std::scoped_lock lock(mutex_);
  --claims_;
  names_ -= names_of(claim);
}

}  // namespace tarry::core
