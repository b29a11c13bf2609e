// ReservedPort: a loopback address with a port that is ours, although nobody listens there yet. So
// a program learns that a port is taken before it makes or opens anything, and clients are not let
// in before it can answer them.
//
// Not thread safe.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tarry/result.h>

namespace tarry::listening {

/// Whether a server may listen there: a loopback address, or localhost. Else `invalid_argument`.
[[nodiscard]] Result<void> check_listen_address(const std::string& address);

class ReservedPort {
 public:
  /// Port 0: any that is free. Errors: `invalid_argument` as above, `conflict` if the port is
  /// taken, `permission_denied`, `io_error`.
  [[nodiscard]] static Result<ReservedPort> reserve(const std::string& address, std::uint16_t port);

  ReservedPort(ReservedPort&& other) noexcept
      : socket_(std::exchange(other.socket_, -1)),
        family_(other.family_),
        port_(other.port_),
        shown_(std::move(other.shown_)) {}
  ReservedPort& operator=(ReservedPort&&) = delete;
  ~ReservedPort();  // gives it back, unless it listens

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] int family() const noexcept { return family_; }  // AF_INET or AF_INET6

  /// Lets clients in. Returns the descriptor, which the caller must close. Call it once. Errors:
  /// `conflict` if another process, which had reserved it too, was first; `io_error`.
  [[nodiscard]] Result<int> listen() &&;

 private:
  ReservedPort(int socket, int family, std::string shown) noexcept
      : socket_(socket), family_(family), shown_(std::move(shown)) {}
  [[nodiscard]] Error failed(int error) const;

  int socket_;
  int family_;
  std::uint16_t port_ = 0;
  std::string shown_;  // "127.0.0.1:7733"
};

}  // namespace tarry::listening
