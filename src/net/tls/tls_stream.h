// TlsStream: the client's side of one TLS connection, over a socket that is connected already.
//
// The client ends a connection by closing the socket, or its sending side, without TLS's own
// message of the end: servers notice both, and an answer that is on its way can still be read.
//
// Thread safety: none; on the io_context's thread. The stream must outlive its callbacks, so let
// them own it.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/tls/tls_client.h"
#include "net/tls/tls_trust.h"

namespace tarry::net {

class TlsStream {
 public:
  using Socket = TlsClient::Socket;
  using SystemError = boost::system::error_code;
  using OnHandshake = base::UniqueFunction<void(Result<void>)>;
  using OnBytes = base::UniqueFunction<void(const SystemError&, std::size_t)>;

  /// Error: `invalid_argument` for a server's name that cannot be checked.
  [[nodiscard]] static Result<std::unique_ptr<TlsStream>> make(Socket& socket,
                                                               std::shared_ptr<TlsTrust> trust);
  TlsStream(Socket& socket, std::shared_ptr<TlsTrust> trust);
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;
  ~TlsStream() = default;

  /// Nothing of the caller's is sent before it has succeeded. The error says in one line which
  /// check failed; it does not name the connection. `invalid_argument`: the server is another one
  /// than the options say, or speaks no TLS that this client speaks. `permission_denied`: the
  /// server refused this client's certificate. `unavailable`: another attempt may succeed, after
  /// the server's operator has renewed a certificate, or at once.
  void handshake(OnHandshake done);
  /// Reads some bytes. One read at a time. The error `eof` means that the server ended the stream;
  /// any other error means that bytes may be missing.
  void read_some(boost::asio::mutable_buffer into, OnBytes done);
  /// Writes all bytes. One write at a time; a read may be in progress meanwhile.
  template <typename Buffers>
  void write(const Buffers& bytes, OnBytes done) {
    boost::asio::async_write(stream_, bytes, std::move(done));
  }
  /// Call it before the socket is closed, if nothing went wrong: without it, OpenSSL would forget
  /// the session.
  void end();

  /// The error of a server that refused this client's certificate, if `error`, of a read or of the
  /// handshake, says so. With TLS 1.3 the client learns it only when it reads. The server has taken
  /// no byte of what was written.
  [[nodiscard]] std::optional<Error> refusal(const SystemError& error) const;
  /// What to suspect if the server ends the connection without a word before it has sent a byte: a
  /// part of a line that begins with "; ", or an empty text.
  [[nodiscard]] std::string suspicion() const;
  /// After a failed handshake: whether the server answered, but not in TLS.
  [[nodiscard]] bool server_has_no_tls() const noexcept { return server_has_no_tls_; }

 private:
  [[nodiscard]] SSL* ssl() const { return const_cast<Stream&>(stream_).native_handle(); }
  [[nodiscard]] bool expect_name();
  [[nodiscard]] Error handshake_error(const SystemError& error);

  using Stream = boost::asio::ssl::stream<Socket&>;

  const std::shared_ptr<TlsTrust> trust_;
  Stream stream_;
  std::optional<Error> check_failure_;  // why the server's certificate was refused
  bool asked_for_certificate_ = false;
  bool server_has_no_tls_ = false;
};

}  // namespace tarry::net
