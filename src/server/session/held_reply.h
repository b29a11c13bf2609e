// HeldReply: an engine's reply, until an answer is made from it. It counts towards the bytes held.
// If it comes while these are over the limit, it is refused at once: the engine is quicker than the
// writing of answers, and replies would pile up before the server's thread looks at them.
//
// Thread safety: none, except for the sum.
#pragma once

#include <atomic>
#include <cstdint>

#include <tarry/result.h>

#include "core/reply.h"

namespace tarry::session {

/// The memory of a reply, about.
[[nodiscard]] std::uint64_t size_of(const core::Reply& reply) noexcept;

class HeldReply {
 public:
  /// On the engine's thread. `limit`: if the sum exceeds it, the reply is refused. Earlier bytes
  /// count, not the reply itself, so that none is too large if nothing else is held.
  HeldReply(Result<core::Reply> result, std::atomic<std::uint64_t>& sum, std::uint64_t limit);
  HeldReply(HeldReply&& other) noexcept;
  HeldReply& operator=(HeldReply&&) = delete;
  HeldReply(const HeldReply&) = delete;
  HeldReply& operator=(const HeldReply&) = delete;
  ~HeldReply();

  /// If it was refused: a claim keeps its receipts, mostly nothing else, to release them; other
  /// replies keep nothing useful.
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
