// ClaimWatches: observers of all claims of an engine, by any caller. A server uses one to count how
// late messages are claimed, by relays and other handles too.
//
// Thread safe. If there is no watch, it costs one atomic read per reply.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

#include "core/reply.h"

namespace tarry::core {

class ClaimWatches {
 public:
  using Token = std::uint64_t;
  /// Runs on the thread that completes the claim, before its completion. It must not block, and
  /// must not use the engine.
  using Watch = std::function<void(const ClaimReply&)>;

  [[nodiscard]] Token add(Watch watch);
  /// When `remove` has returned, the watch never runs again.
  void remove(Token token);

  /// For the engine: calls the watches for a claim with messages; ignores other replies.
  void tell(const Reply& reply) const {
    if (count_.load(std::memory_order_acquire) > 0) tell_all(reply);
  }

 private:
  void tell_all(const Reply& reply) const;

  mutable std::mutex mutex_;
  std::map<Token, Watch> watches_;
  Token last_ = 0;
  std::atomic<std::size_t> count_ = 0;
};

}  // namespace tarry::core
