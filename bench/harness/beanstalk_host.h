// BeanstalkHost: the run's own beanstalkd on a free port of 127.0.0.1. Its log is synced every 50
// ms, which is its default.
//
// Thread safety: none. It ends with the thread that made it.
#pragma once

#include <cstdint>
#include <memory>

#include "harness/scratch.h"
#include "harness/server_process.h"

namespace tarry::bench {

class BeanstalkHost {
 public:
  [[nodiscard]] static bool is_installed();

  BeanstalkHost();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] double bytes() const { return anonymous_bytes_of(server_->pid()); }

 private:
  Scratch scratch_;
  std::uint16_t port_;
  std::unique_ptr<ServerProcess> server_;
};

}  // namespace tarry::bench
