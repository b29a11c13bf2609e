// A listening socket on a free loopback port, for tests that play an HTTP server by hand.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "net/http/http_message.h"
#include "net/http/http_parser.h"

namespace tarry::testing {

/// One accepted connection. Each wait ends after a minute at most, as a failure.
class RawConnection {
 public:
  explicit RawConnection(int fd) : fd_(fd) {
    const timeval minute{60, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &minute, sizeof minute);
  }
  RawConnection(RawConnection&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)), held_(std::move(other.held_)) {}
  RawConnection& operator=(RawConnection&&) = delete;
  ~RawConnection() { close(); }

  /// The next request; its method is empty if none came.
  net::HttpMessage receive() {
    net::HttpParser parser(net::HttpParser::Side::request, {1 << 16, 1ull << 30});
    for (;;) {
      held_.erase(0, parser.feed(held_));
      if (parser.done()) return std::move(parser.message());
      if (parser.fault() || !fill()) return {};
    }
  }
  /// Receives some bytes of the next request, and no more.
  bool receive_some() { return fill(); }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }
  bool answer(std::string_view body, std::string_view status = "200 OK",
              std::string_view fields = "") {
    return send("HTTP/1.1 " + std::string(status) + "\r\nContent-Type: application/json\r\n" +
                std::string(fields) + "Content-Length: " + std::to_string(body.size()) +
                "\r\n\r\n" + std::string(body));
  }

  /// Waits until the client has closed its side.
  bool wait_for_end() {
    while (fill()) held_.clear();
    return ended_;
  }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close();
  }

 private:
  bool fill() {
    char bytes[16384];
    const ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    if (n > 0) held_.append(bytes, static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno == ECONNRESET)) ended_ = true;
    return n > 0;
  }

  int fd_;
  bool ended_ = false;
  std::string held_;
};

class RawServer {
 public:
  RawServer() : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval minute{60, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return;
    if (::listen(fd_, 64) != 0) return;
    socklen_t size = sizeof address;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  RawServer(const RawServer&) = delete;
  RawServer& operator=(const RawServer&) = delete;
  ~RawServer() { close(); }

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  [[nodiscard]] RawConnection accept() { return RawConnection(::accept(fd_, nullptr, nullptr)); }
  /// From now on connections are refused.
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
  std::uint16_t port_ = 0;
};

}  // namespace tarry::testing
