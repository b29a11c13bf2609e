// LatenessAtLoad: how late messages were claimed at one load.
#pragma once

#include <cstdint>

#include "base/histogram.h"

namespace tarry::app {

struct LatenessAtLoad {
  double asked = 0;    // messages a second
  double reached = 0;  // messages a second that were really pushed
  std::uint64_t claimed = 0;
  base::Histogram lateness;  // microseconds from the due time until the client has the message
};

}  // namespace tarry::app
