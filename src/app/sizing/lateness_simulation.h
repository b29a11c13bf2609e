// Simulates one server that carries out calls one after the other. Computes how long a call waits
// for its turn and its end.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace tarry::app::sizing {

struct CallLoad {
  double calls = 0;    // calls a second, at random times (Poisson)
  double call_us = 0;  // server time of each call
};

struct CallWait {
  double p50_ms = 0;
  double p99_ms = 0;
};

/// The same seed gives the same answer. If the server gets more work than it can do, it never
/// answers: both times are infinite.
[[nodiscard]] CallWait simulate_calls(const CallLoad& load, std::uint64_t seed);

}  // namespace tarry::app::sizing
