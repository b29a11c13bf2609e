// Lifecycles through a pipe: so many lanes, each of which pushes a batch, claims a batch of what is
// due and settles it, and begins anew; what one lane waits for, the others do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "designs/piped.h"

namespace tarry::bench {

struct PipedLifecycle {
  std::uint64_t pushes = 0;
  std::uint64_t claims = 0;  // as many must fall due
  std::size_t lanes = 8;
  std::size_t batch = 100;
  /// The message of that number, from 0 on; what it names outlives the run.
  std::function<Message(std::uint64_t number)> message;
};

struct PipedTimes {
  double seconds = 0;  // from the first push to the last settle
  std::uint64_t pushed_proof = 0;
  std::uint64_t claimed_proof = 0;
};

[[nodiscard]] PipedTimes run_piped(Piped& design, const PipedLifecycle& shape);

}  // namespace tarry::bench
