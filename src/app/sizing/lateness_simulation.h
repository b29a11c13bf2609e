// Simulates one server that carries out calls one after the other, and says how long a call waits
// for its turn and its end.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

namespace tarry::app::sizing {

struct CallLoad {
  double calls = 0;    // a second; they come at random times (Poisson)
  double call_us = 0;  // of server time, each
};

struct CallWait {
  double p50_ms = 0;
  double p99_ms = 0;
};

/// The same seed gives the same answer. A server that is busy for more than all of its time never
/// answers: both are infinite.
[[nodiscard]] CallWait simulate_calls(const CallLoad& load, std::uint64_t seed);

}  // namespace tarry::app::sizing
