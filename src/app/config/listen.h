// A server's addresses: reads them from the setting, shows them as URLs, and writes their ports to
// a file for users who gave port 0. Reads the server's host names, too.
//
// Thread safety: pure, except for check_port_file and write_port_file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

namespace tarry::app {

struct Address {
  std::string host;  // without the brackets of IPv6
  std::uint16_t port = 0;
  std::string path = {};  // of a unix socket, absolute; otherwise empty

  [[nodiscard]] bool is_unix() const noexcept { return !path.empty(); }
  /// Whether only this machine reaches it.
  [[nodiscard]] bool is_local() const;
  /// As it stands in the setting: "127.0.0.1:7733", "[::1]:7733", "unix:/run/tarry.sock".
  [[nodiscard]] std::string text() const;
  /// For a client: "http://127.0.0.1:7733", or "https://..." with TLS; in any case
  /// "http+unix:///run/tarry.sock".
  [[nodiscard]] std::string url(bool has_tls) const;
};

/// The addresses of a list with commas. Each is HOST:PORT, [HOST]:PORT for IPv6, or unix:PATH. HOST
/// is an IP address or localhost. Error: `invalid_argument`, also if two of them take the same port
/// or path.
[[nodiscard]] Result<std::vector<Address>> parse_listen(std::string_view text);

/// The names of a list with commas. Each is a host name or an IP address, without a port. The
/// result has IPv6 addresses in brackets, as RFC 5952 writes them. Error: `invalid_argument`.
[[nodiscard]] Result<std::vector<std::string>> parse_names(std::string_view text);

/// Checks whether write_port_file could write to the path now, so that a server can fail before it
/// does anything.
[[nodiscard]] Result<void> check_port_file(const std::string& path);

/// Writes the ports of the addresses that have one, each on a line. The file appears whole or not
/// at all, because a client that waits for it must not read half a number. A device or a FIFO is
/// written to and never replaced (replace_file.h).
[[nodiscard]] Result<void> write_port_file(const std::string& path,
                                           const std::vector<Address>& addresses);

}  // namespace tarry::app
