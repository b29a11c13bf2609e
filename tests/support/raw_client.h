// A blocking TCP client for tests on loopback, which sends exactly the given bytes. Each wait ends
// after a minute at most, as a failure. If TARRY_TEST_TLS is set, the bytes go through TLS, and the
// constructor shakes hands. It does not check the identity of the server.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "net/http/http_message.h"
#include "net/http/http_parser.h"

namespace tarry::testing {

/// Whether the tests of the HTTP server run over TLS.
[[nodiscard]] inline bool tests_tls() { return std::getenv("TARRY_TEST_TLS") != nullptr; }

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
    if (connected_ && tests_tls()) connected_ = shake_hands();
  }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;
  ~RawClient() { close(); }

  [[nodiscard]] bool connected() const noexcept { return connected_; }

  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = write_some(bytes);
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

  /// Whether the peer closes the connection within this time; drops what comes before.
  bool ends_within(std::chrono::milliseconds time) {
    pollfd one{fd_, POLLIN, 0};
    while (!ended_ && ::poll(&one, 1, static_cast<int>(time.count())) > 0 && fill()) held_.clear();
    return ended_;
  }

  void end_sending() {
    if (tls_) SSL_shutdown(tls_.get());
    ::shutdown(fd_, SHUT_WR);
  }
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
  struct Free {
    void operator()(SSL* tls) const noexcept { SSL_free(tls); }
    void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  };

  bool shake_hands() {
    std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
    const std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
    SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
    tls_.reset(SSL_new(context.get()));
    SSL_set_fd(tls_.get(), fd_);
    return SSL_connect(tls_.get()) == 1;
  }

  ssize_t write_some(std::string_view bytes) {
    if (!tls_) return ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    constexpr std::size_t kMost = std::size_t{1} << 20;
    return SSL_write(tls_.get(), bytes.data(), static_cast<int>(std::min(bytes.size(), kMost)));
  }
  ssize_t read_some(char* into, std::size_t size) {
    if (!tls_) return ::recv(fd_, into, size, 0);
    errno = 0;
    const int n = SSL_read(tls_.get(), into, static_cast<int>(size));
    return SSL_get_error(tls_.get(), n) == SSL_ERROR_ZERO_RETURN ? 0 : n > 0 ? n : -1;
  }

  bool fill() {
    char bytes[16384];
    const ssize_t n = read_some(bytes, sizeof bytes);
    if (n > 0) held_.append(bytes, static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno == ECONNRESET)) ended_ = true;
    return n > 0;
  }

  int fd_;
  std::unique_ptr<SSL, Free> tls_;  // null: plain
  bool connected_ = false;
  bool ended_ = false;
  std::string held_;
};

}  // namespace tarry::testing
