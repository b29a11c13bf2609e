// TarryHost: `tarry serve` on a free port of 127.0.0.1, as its users run it: a process of its own,
// whose effort can be read.
//
// Thread safety: none. It ends with the thread that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "harness/scratch.h"
#include "harness/server_process.h"

namespace tarry::bench {

class TarryHost {
 public:
  struct Options {
    std::string store = "file:";          // or "memory:", with options: "file:?sync=100ms"
    std::vector<std::string> flags = {};  // more of them
  };
  /// A store of `file:` is a new one below `parent`.
  TarryHost(const std::string& parent, const Options& options);

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  /// The port of the front that a flag names, such as `--beanstalk 127.0.0.1:0`.
  [[nodiscard]] std::uint16_t front_port() const noexcept { return front_port_; }
  [[nodiscard]] pid_t pid() const noexcept { return server_->pid(); }

 private:
  Scratch scratch_;
  std::unique_ptr<ServerProcess> server_;
  std::uint16_t port_ = 0;
  std::uint16_t front_port_ = 0;
};

}  // namespace tarry::bench
