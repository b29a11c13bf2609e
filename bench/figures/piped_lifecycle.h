// Lifecycles through a pipe, in several lanes. Each lane pushes a batch, claims a batch of due
// messages, settles it, and begins again; lanes do not wait for each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "designs/piped.h"

namespace tarry::bench {

struct PipedLifecycle {
  std::uint64_t pushes = 0;
  std::uint64_t claims = 0;  // as many messages must fall due
  std::size_t lanes = 8;
  std::size_t batch = 100;
  /// The message of that number, from 0 on. The bytes that it refers to must outlive the run.
  std::function<Message(std::uint64_t number)> message;
};

struct PipedTimes {
  double seconds = 0;  // from the first push to the last settle
  std::uint64_t pushed_proof = 0;
  std::uint64_t claimed_proof = 0;
};

[[nodiscard]] PipedTimes run_piped(Piped& design, const PipedLifecycle& shape);

}  // namespace tarry::bench
