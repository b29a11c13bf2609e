// RelayFigures: the figures in /metrics about one relay that runs in the server's process.
//
// Plain value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/figures/lateness_histogram.h"

namespace tarry::metrics {

struct RelayFigures {
  std::string name;
  bool up = false;  // false: it has ended with an error
  std::uint64_t claimed = 0;
  std::uint64_t confirmed = 0;  // messages that the sink has confirmed
  std::uint64_t failed = 0;     // answers of the sink that ask for another attempt
  // The numbers of claims that ended in each way.
  std::uint64_t acked = 0;
  std::uint64_t retried = 0;
  std::uint64_t buried = 0;
  std::uint64_t released = 0;
  std::uint64_t stale = 0;
  std::uint64_t in_flight = 0;
  std::uint64_t queues = 0;
  std::uint64_t breaker_openings = 0;
  bool breaker_open = false;
  core::LatenessHistogram lag;             // from due time to confirmation
  std::vector<std::string> patterns = {};  // of the queues that it serves
};

}  // namespace tarry::metrics
