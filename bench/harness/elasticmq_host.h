// ElasticMqHost: the run's own ElasticMQ, an SQS server in memory, on a free port of 127.0.0.1.
// TARRY_ELASTICMQ_CLASSPATH names its libraries (bench/java_classpath.py).
//
// Thread safety: none. It ends with the thread that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/scratch.h"
#include "harness/server_process.h"

namespace tarry::bench {

class ElasticMqHost {
 public:
  [[nodiscard]] static bool is_there();

  /// Its output lies below `parent`.
  explicit ElasticMqHost(const std::string& parent);

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] pid_t pid() const noexcept { return server_->pid(); }

 private:
  Scratch scratch_;
  std::uint16_t port_;
  std::unique_ptr<ServerProcess> server_;
};

}  // namespace tarry::bench
