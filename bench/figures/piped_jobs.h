// Pipelined jobs: connections that each put 100 jobs by one write, and when all are answered
// reserve 100, delete these, and begin again. One thread serves them all.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tarry::bench {

struct PipedJobs {
  std::size_t lives = 100'000;
  std::size_t connections = 1;
  std::size_t depth = 100;
  std::size_t payload = 100;  // bytes
};

/// Lives a second against the server of beanstalkd's protocol on that port of 127.0.0.1. A fault
/// ends the program.
[[nodiscard]] double live_piped_jobs(std::uint16_t port, const PipedJobs& shape);

}  // namespace tarry::bench
