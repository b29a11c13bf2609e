// A server's listening address: reads it from HOST:PORT, shows it as a URL, and writes the port to
// a file for users who gave port 0.
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

/// Reads HOST:PORT; for IPv6 [::1]:7733.
[[nodiscard]] Result<Address> parse_listen(const std::string& text);

/// Checks whether write_port_file could write to the path now, so that a server can fail before it
/// does anything.
[[nodiscard]] Result<void> check_port_file(const std::string& path);

/// Writes the file as a whole or not at all, because a client that waits for it must not read half
/// a number. A device or a FIFO is written to and never replaced (replace_file.h).
[[nodiscard]] Result<void> write_port_file(const std::string& path, std::uint16_t port);

}  // namespace tarry::app
