// OwnOptions: the values that single messages have in place of their queue's settings, and which
// message expires next. Few messages have any, so they are kept beside the slab; `Message::options`
// says whether there are some.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. A message has an entry if and only if its `options` is 1.
//  2. After replay, a message is among the expiries if and only if it expires and waits for a
//     claim: it is scheduled or ready, and armed.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/rules/expiry.h"
#include "engines/embedded/state/messages/message_slab.h"

namespace tarry::embedded {

class OwnOptions {
 public:
  explicit OwnOptions(MessageSlab& slab) noexcept : slab_(&slab) {}

  /// 0: the queue's.
  [[nodiscard]] std::uint16_t max_attempts(Handle handle) const;
  [[nodiscard]] core::Expiry expiry(Handle handle) const;
  /// True if the message's expiry has come by `now_ms` of REALTIME.
  [[nodiscard]] bool has_expired(Handle handle, std::int64_t now_ms) const {
    return (*slab_)[handle].options != 0 && expires_by(handle, now_ms);
  }
  /// The waiting message that expires first; kNoHandle if none does. `next_expiry_ms`: when.
  [[nodiscard]] Handle next_to_expire() const noexcept {
    return expiries_.empty() ? kNoHandle : expiries_.begin()->second;
  }
  [[nodiscard]] std::optional<std::int64_t> next_expiry_ms() const noexcept {
    return expiries_.empty() ? std::nullopt : std::optional(expiries_.begin()->first);
  }

  void set_max_attempts(Handle handle, std::uint16_t max_attempts) {
    if (max_attempts != 0) keep(handle, max_attempts);
  }
  /// The message must be disarmed.
  void set_expiry(Handle handle, const core::Expiry& expiry) {
    if ((*slab_)[handle].options != 0 || expiry.any()) keep(handle, expiry);
  }
  /// The message must be disarmed.
  void forget(Handle handle) {
    if ((*slab_)[handle].options != 0) drop(handle);
  }

  /// Call `arm` when the message begins to wait in its stage, and `disarm` before it leaves it.
  void arm(Handle handle) {
    if ((*slab_)[handle].options != 0) insert(handle);
  }
  void disarm(Handle handle) {
    if ((*slab_)[handle].options != 0) erase(handle);
  }

 private:
  struct Own {
    std::uint16_t max_attempts = 0;
    core::Expiry expiry;
  };

  [[nodiscard]] bool expires_by(Handle handle, std::int64_t now_ms) const;
  [[nodiscard]] std::optional<std::pair<std::int64_t, Handle>> entry(Handle handle) const;
  void keep(Handle handle, std::uint16_t max_attempts);
  void keep(Handle handle, const core::Expiry& expiry);
  void drop(Handle handle);
  void insert(Handle handle);
  void erase(Handle handle);

  MessageSlab* slab_;
  std::unordered_map<Handle, Own> own_;
  // When, and which.
  std::set<std::pair<std::int64_t, Handle>> expiries_;
};

}  // namespace tarry::embedded
