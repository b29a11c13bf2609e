// BeanstalkHost: the run's own beanstalkd on a free port of 127.0.0.1.
//
// Thread safety: none. It ends with the thread that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "harness/scratch.h"
#include "harness/server_process.h"

namespace tarry::bench {

class BeanstalkHost {
 public:
  [[nodiscard]] static bool is_installed();

  /// Its log lies below `parent` and is synced every `sync_ms`, or at each write if that is 0. 50
  /// is beanstalkd's default. Without a number there is no log.
  explicit BeanstalkHost(const std::string& parent, std::optional<int> sync_ms = 50);

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] pid_t pid() const noexcept { return server_->pid(); }
  [[nodiscard]] double bytes() const { return anonymous_bytes_of(server_->pid()); }

 private:
  Scratch scratch_;
  std::uint16_t port_;
  std::unique_ptr<ServerProcess> server_;
};

}  // namespace tarry::bench
