// HeldReply: an engine's reply, until an answer is made from it. Its bytes count as held. If it
// comes while too much is held, it is refused at once: the engine is quicker than the writing of
// answers, so replies would pile up before the server's thread.
//
// Thread safety: none, except for the sum.
#pragma once

#include <atomic>
#include <cstdint>

#include <tarry/result.h>

#include "core/reply.h"

namespace tarry::session {

/// The approximate memory of a reply.
[[nodiscard]] std::uint64_t size_of(const core::Reply& reply) noexcept;

class HeldReply {
 public:
  /// Made on the engine's thread. If `sum` exceeds `limit`, the reply is refused. The reply's own
  /// bytes do not count for this, so that a single reply is accepted, however large, while nothing
  /// else is held.
  HeldReply(Result<core::Reply> result, std::atomic<std::uint64_t>& sum, std::uint64_t limit);
  HeldReply(HeldReply&& other) noexcept;
  HeldReply& operator=(HeldReply&&) = delete;
  HeldReply(const HeldReply&) = delete;
  HeldReply& operator=(const HeldReply&) = delete;
  ~HeldReply();

  /// The reply. A refused reply has lost its contents. If it answers a claim, the receipts usually
  /// remain, so that the caller can release the messages.
  [[nodiscard]] Result<core::Reply>& result() noexcept { return result_; }
  [[nodiscard]] bool refused() const noexcept { return refused_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

 private:
  void shed() noexcept;

  Result<core::Reply> result_;
  std::atomic<std::uint64_t>* sum_;
  std::uint64_t bytes_ = 0;  // the part of the sum that this reply adds
  bool refused_ = false;
};

}  // namespace tarry::session
