// HeldReply: what the engine has answered, from then until an answer is made of it. It counts in
// what the server holds; one that comes while that is over the limit is refused there and then: the
// engine is quicker than whoever writes answers, and replies would pile up before the server's
// thread comes to look at them.
//
// Thread safety: none, but for the sum.
#pragma once

#include <atomic>
#include <cstdint>

#include <tarry/result.h>

#include "core/reply.h"

namespace tarry::session {

/// What a reply takes up, about.
[[nodiscard]] std::uint64_t size_of(const core::Reply& reply) noexcept;

class HeldReply {
 public:
  /// On the engine's thread. `limit`: of the sum, beyond which the reply is refused. What came
  /// before counts, not the reply itself, so that none is too large where nothing else is held.
  HeldReply(Result<core::Reply> result, std::atomic<std::uint64_t>& sum, std::uint64_t limit);
  HeldReply(HeldReply&& other) noexcept;
  HeldReply& operator=(HeldReply&&) = delete;
  HeldReply(const HeldReply&) = delete;
  HeldReply& operator=(const HeldReply&) = delete;
  ~HeldReply();

  /// Of one that was refused: of a claim the receipts, mostly without anything else, to release
  /// them; of others nothing that is of use.
  [[nodiscard]] Result<core::Reply>& result() noexcept { return result_; }
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void shed() noexcept;

  Result<core::Reply> result_;
  std::atomic<std::uint64_t>* sum_;
  std::uint64_t bytes_ = 0;  // our part of it
  bool refused_ = false;
};

}  // namespace tarry::session
