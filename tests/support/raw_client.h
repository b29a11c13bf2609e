// A blocking TCP client for tests on loopback, which sends exactly the given bytes. Each wait ends
// after a minute at most, as a failure.
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

class RawClient {
 public:
  /// `from`: the address from which it connects; otherwise the system chooses.
  explicit RawClient(std::uint16_t port, const char* from = nullptr)
      : fd_(::socket(AF_INET, SOCK_STREAM, 0)) {
    const timeval minute{60, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &minute, sizeof minute);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    if (from != nullptr) {
      ::inet_pton(AF_INET, from, &address.sin_addr);
      static_cast<void>(::bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address));
    }
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { close(); }

  [[nodiscard]] bool connected() const noexcept { return connected_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
    return true;
  }

  /// One response; status 0 if none came. Bytes after it are kept for the next call.
  net::HttpMessage receive() {
    net::HttpParser parser(net::HttpParser::Side::response, {1 << 16, 1ull << 30});
    for (;;) {
      held_.erase(0, parser.feed(held_));
      if (parser.done()) return std::move(parser.message());
      if (parser.fault()) return {};
      if (!fill()) {
        parser.feed_end();
        return parser.done() ? std::move(parser.message()) : net::HttpMessage();
      }
    }
  }

  /// For protocols of lines: the next line without its end. If no whole line comes, the bytes that
  /// came.
  std::string receive_line() {
    std::size_t end = 0;
    while ((end = held_.find('\n')) == std::string::npos) {
      if (!fill()) return std::exchange(held_, {});
    }
    std::string line = held_.substr(0, end);
    held_.erase(0, end + 1);
    return line;
  }

  /// Sends `method` and `path` with a body, and `fields` besides the usual ones. Returns the
  /// response.
  net::HttpMessage ask(std::string_view method, std::string_view path, std::string_view body = "",
                       std::string_view fields = "") {
    send(request(method, path, body, fields));
    return receive();
  }
  net::HttpMessage post(std::string_view path, std::string_view body) {
    return ask("POST", path, body);
  }
  net::HttpMessage get(std::string_view path) { return ask("GET", path); }

  [[nodiscard]] static std::string request(std::string_view method, std::string_view path,
                                           std::string_view body = "",
                                           std::string_view fields = "") {
    std::string text = std::string(method) + " " + std::string(path) + " HTTP/1.1\r\n";
    text += "Host: localhost\r\n";
    if (!body.empty()) text += "Content-Type: application/json\r\n";
    if (!body.empty()) text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    text += fields;
    text += "\r\n";
    text += body;
    return text;
  }

  /// Waits until the peer has closed the connection; drops all bytes that come before.
  bool wait_for_end() {
    while (fill()) held_.clear();
    return ended_;
  }

  void end_sending() { ::shutdown(fd_, SHUT_WR); }
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  /// Closes with a reset, which is what the peer of a killed machine sees.
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
  bool connected_ = false;
  bool ended_ = false;
  std::string held_;
};

}  // namespace tarry::testing
