#include "engines/embedded/state/messages/own_options.h"

namespace tarry::embedded {

std::uint16_t OwnOptions::max_attempts(Handle handle) const {
  return (*slab_)[handle].options == 0 ? 0 : own_.at(handle).max_attempts;
}

core::Expiry OwnOptions::expiry(Handle handle) const {
  return (*slab_)[handle].options == 0 ? core::Expiry{} : own_.at(handle).expiry;
}

bool OwnOptions::expires_by(Handle handle, std::int64_t now_ms) const {
  const core::Expiry expiry = this->expiry(handle);
  return expiry.any() && expiry.at_ms <= now_ms;
}

void OwnOptions::keep(Handle handle, std::uint16_t max_attempts) {
  (*slab_)[handle].options = 1;
  own_[handle].max_attempts = max_attempts;
}

void OwnOptions::keep(Handle handle, const core::Expiry& expiry) {
  Message& message = (*slab_)[handle];
  Own& own = own_[handle];
  own.expiry = expiry;
  message.options = own.max_attempts != 0 || expiry.any() ? 1 : 0;
  if (message.options == 0) own_.erase(handle);
}

void OwnOptions::drop(Handle handle) {
  own_.erase(handle);
  (*slab_)[handle].options = 0;
}

// Empty if the message never expires, or does not wait for a claim now.
std::optional<std::pair<std::int64_t, Handle>> OwnOptions::entry(Handle handle) const {
  const Stage stage = (*slab_)[handle].stage();
  if (stage != Stage::scheduled && stage != Stage::ready) return std::nullopt;
  const core::Expiry expiry = this->expiry(handle);
  return expiry.any() ? std::optional(std::pair(expiry.at_ms, handle)) : std::nullopt;
}

void OwnOptions::insert(Handle handle) {
  if (const auto at = entry(handle)) expiries_.insert(*at);
}

void OwnOptions::erase(Handle handle) {
  if (const auto at = entry(handle)) expiries_.erase(*at);
}

}  // namespace tarry::embedded
