// A listening socket on a free loopback port, for tests that play an HTTP server by hand, plain or
// in TLS.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "net/http/http_message.h"
#include "net/http/http_parser.h"

namespace tarry::testing {

struct FreeTls {
  void operator()(SSL_CTX* context) const noexcept { SSL_CTX_free(context); }
  void operator()(SSL* connection) const noexcept { SSL_free(connection); }
};
using TlsContext = std::unique_ptr<SSL_CTX, FreeTls>;
using TlsConnection = std::unique_ptr<SSL, FreeTls>;

/// What a server needs for TLS.
inline TlsContext server_tls(const std::string& certificate_file, const std::string& key_file) {
  std::signal(SIGPIPE, SIG_IGN);  // OpenSSL writes without MSG_NOSIGNAL
  TlsContext context(SSL_CTX_new(TLS_server_method()));
  if (SSL_CTX_use_certificate_chain_file(context.get(), certificate_file.c_str()) != 1 ||
      SSL_CTX_use_PrivateKey_file(context.get(), key_file.c_str(), SSL_FILETYPE_PEM) != 1) {
    throw std::runtime_error("no TLS with " + certificate_file);
  }
  // A client that closes its side may still be answered.
  SSL_CTX_set_options(context.get(), SSL_OP_IGNORE_UNEXPECTED_EOF);
  return context;
}

/// One accepted connection. Each wait ends after a minute at most, as a failure.
class RawConnection {
 public:
  /// `tls`: null for a connection without TLS.
  explicit RawConnection(int fd, TlsConnection tls = nullptr) : fd_(fd), tls_(std::move(tls)) {
    const timeval minute{60, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &minute, sizeof minute);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &minute, sizeof minute);
    if (!tls_) return;
    SSL_set_fd(tls_.get(), fd_);
    accepted_ = SSL_accept(tls_.get()) == 1;
  }
  RawConnection(RawConnection&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)),
        tls_(std::move(other.tls_)),
        accepted_(other.accepted_),
        held_(std::move(other.held_)) {}
  RawConnection& operator=(RawConnection&&) = delete;
  ~RawConnection() { close(); }

  /// Whether TLS's handshake succeeded.
  [[nodiscard]] bool accepted() const noexcept { return accepted_; }
  /// Whether the client resumed an earlier session.
  [[nodiscard]] bool resumed() const noexcept {
    return accepted_ && SSL_session_reused(tls_.get()) == 1;
  }
  /// The name that the client asked for (SNI), or an empty one.
  [[nodiscard]] std::string asked_name() const {
    const char* name = SSL_get_servername(tls_.get(), TLSEXT_NAMETYPE_host_name);
    return name == nullptr ? "" : name;
  }

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
      const ssize_t n = tls_ ? SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size()))
                             : ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
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
    if (fd_ >= 0 && accepted_) SSL_shutdown(tls_.get());
    close_socket();
  }
  /// Closes the socket without TLS's own message of the end.
  void close_socket() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  void reset() {
    const linger now{1, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close_socket();
  }

 private:
  bool fill() {
    char bytes[16384];
    errno = 0;
    const ssize_t n =
        tls_ ? SSL_read(tls_.get(), bytes, sizeof bytes) : ::recv(fd_, bytes, sizeof bytes, 0);
    if (n > 0) held_.append(bytes, static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno == ECONNRESET)) ended_ = true;
    return n > 0;
  }

  int fd_;
  TlsConnection tls_;
  bool accepted_ = false;
  bool ended_ = false;
  std::string held_;
};

class RawServer {
 public:
  /// `tls`: null for a server without TLS.
  explicit RawServer(TlsContext tls = nullptr)
      : fd_(::socket(AF_INET, SOCK_STREAM, 0)), tls_(std::move(tls)) {
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
  /// The next connection, after TLS's handshake if there is one.
  [[nodiscard]] RawConnection accept() {
    return RawConnection(::accept(fd_, nullptr, nullptr),
                         TlsConnection(tls_ ? SSL_new(tls_.get()) : nullptr));
  }
  /// From now on connections are refused.
  void close() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  int fd_;
  TlsContext tls_;
  std::uint16_t port_ = 0;
};

}  // namespace tarry::testing
