// TarryHost: `tarry serve` on a free port of 127.0.0.1, as its users run it: a process of its own,
// whose effort can be read.
//
// Thread safety: none. It ends with the thread that made it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "harness/scratch.h"
#include "harness/server_process.h"

namespace tarry::bench {

class TarryHost {
 public:
  /// A new `file:` store below `parent`; `options`: those of its URL, such as "sync=100ms".
  TarryHost(const std::string& parent, const std::string& options);

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] pid_t pid() const noexcept { return server_->pid(); }

 private:
  Scratch scratch_;
  std::unique_ptr<ServerProcess> server_;
  std::uint16_t port_ = 0;
};

}  // namespace tarry::bench
