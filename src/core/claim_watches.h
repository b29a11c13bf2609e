// ClaimWatches: who is told of what an engine hands out, whoever claimed it: a server counts so how
// late messages are, also those that a relay or a handle beside it claims.
//
// Thread safe. Costs one atomic read a reply while nobody watches.
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
  /// Runs on the thread that completes the claim, before its completion; does not block, and asks
  /// the engine nothing.
  using Watch = std::function<void(const ClaimReply&)>;

  [[nodiscard]] Token add(Watch watch);
  /// When it returns the watch runs no more.
  void remove(Token token);

  /// For the engine: tells of claims with messages; other replies are nobody's business.
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
