// NatsHost: the run's own nats-server on a free port of 127.0.0.1. It has a stream "bench" in
// files, whose schedules go to the subject "due", and a pull consumer "work" of it with explicit
// acks.
//
// Thread safety: none. It ends with the thread that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/scratch.h"
#include "harness/server_process.h"

namespace tarry::bench {

class NatsHost {
 public:
  /// Whether scripts/bench has built the server and told us its path.
  [[nodiscard]] static bool is_there();

  /// Its files lie below `parent`. `sync`: its setting sync_interval, as "100ms".
  NatsHost(const std::string& parent, const std::string& sync);

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] pid_t pid() const noexcept { return server_->pid(); }

 private:
  Scratch scratch_;
  std::uint16_t port_;
  std::unique_ptr<ServerProcess> server_;
};

}  // namespace tarry::bench
