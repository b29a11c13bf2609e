// ReservedPort: an IP address and a port that this process has bound, but does not listen at yet.
// So a program learns that a port is taken before it makes or opens anything, and no client can
// connect before the program can answer. An IPv6 address takes no clients over IPv4, not even [::].
//
// It may also be a socket that another program has bound, and passed on (inherited_sockets.h): that
// may be a unix socket, too.
//
// Not thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tarry/result.h>

namespace tarry::listening {

class ReservedPort {
 public:
  /// Reserves a port; 0 means any free port. Errors: those of parse_listen_address;
  /// `invalid_argument` if the machine has no such address; `conflict` if the port is taken;
  /// `permission_denied`; `io_error`.
  [[nodiscard]] static Result<ReservedPort> reserve(const std::string& address, std::uint16_t port);

  /// Takes over a stream socket that listens. Error: `invalid_argument` if the descriptor is
  /// anything else; it then stays open.
  [[nodiscard]] static Result<ReservedPort> adopt(int socket);

  ReservedPort(ReservedPort&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        family_(other.family_),
        port_(other.port_),
        shown_(std::move(other.shown_)) {}
  ReservedPort& operator=(ReservedPort&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(family_, other.family_);
    std::swap(port_, other.port_);
    std::swap(shown_, other.shown_);
    return *this;
  }
  ~ReservedPort();  // frees the port, unless `listen` was called

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] int family() const noexcept { return family_; }  // AF_INET, AF_INET6 or AF_UNIX
  /// "127.0.0.1:7733", "[::1]:7733", "unix:/run/tarry.sock".
  [[nodiscard]] const std::string& shown() const noexcept { return shown_; }

  /// Begins to listen. Returns the descriptor, which the caller must close. Call it once. Errors:
  /// `conflict` if another process had reserved the same port and listened first; `io_error`.
  [[nodiscard]] Result<int> listen() &&;

 private:
  ReservedPort(int socket, int family, std::string shown) noexcept
      : socket_(socket), family_(family), shown_(std::move(shown)) {}
  [[nodiscard]] Error failed(int error) const;

  int socket_;
  int family_;
  std::uint16_t port_ = 0;
  std::string shown_;
};

}  // namespace tarry::listening
