// A server's listening address: read from HOST:PORT, shown as a URL, and written into a file for
// users who gave port 0.
//
// Thread safety: pure, except for check_port_file and write_port_file.
#pragma once

#include <cstdint>
#include <string>

#include <tarry/result.h>

namespace tarry::app {

struct Address {
  std::string host;  // without the brackets of IPv6
  std::uint16_t port = 0;

  [[nodiscard]] std::string url() const;
};

/// HOST:PORT; [::1]:7733 for IPv6.
[[nodiscard]] Result<Address> parse_listen(const std::string& text);

/// Checks, before anything is done, whether write_port_file can write there, by the file that is
/// there now.
[[nodiscard]] Result<void> check_port_file(const std::string& path);

/// Whole or not at all: a client that waits for the file must not read half a number. A device or a
/// FIFO is written to and never replaced (replace_file.h).
[[nodiscard]] Result<void> write_port_file(const std::string& path, std::uint16_t port);

}  // namespace tarry::app
