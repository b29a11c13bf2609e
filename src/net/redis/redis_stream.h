// RedisStream: the bytes to and from one Redis server, over TCP or a unix socket, plain or in TLS.
//
// Thread safety: none; on the io_context's thread. The stream must outlive its callbacks, so let
// them own it. After `close`, operations in progress end with an error.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/redis/redis_client.h"

namespace tarry::net {

/// "127.0.0.1:6379", "[::1]:6379" or "/run/redis.sock"; for a master that sentinels watch, the
/// sentinels' name for it and its address: "orders (127.0.0.1:6379)".
[[nodiscard]] std::string redis_server_name(const RedisOptions& options);
[[nodiscard]] std::string redis_server_name(const RedisAddress& address);
/// For messages: "Redis at 127.0.0.1:6379", or "the sentinel at ...".
[[nodiscard]] std::string redis_title(const RedisOptions& options);

class RedisStream {
 public:
  using Executor = boost::asio::io_context::executor_type;
  using SystemError = boost::system::error_code;
  using OnConnected = base::UniqueFunction<void(Result<void>)>;
  using OnBytes = base::UniqueFunction<void(const SystemError&, std::size_t)>;

  /// `options` must outlive it.
  [[nodiscard]] static std::unique_ptr<RedisStream> make(boost::asio::io_context& io,
                                                         const RedisOptions& options);
  RedisStream(const RedisStream&) = delete;
  RedisStream& operator=(const RedisStream&) = delete;
  virtual ~RedisStream() = default;

  /// Connects, with TLS's handshake if there is one. May be called once. The error is one line that
  /// names the server.
  void connect(OnConnected done);
  /// Reads some bytes. One read at a time.
  virtual void read_some(boost::asio::mutable_buffer into, OnBytes done) = 0;
  /// Writes all bytes. One write at a time; a read may be in progress meanwhile.
  virtual void write(boost::asio::const_buffer bytes, OnBytes done) = 0;
  void close();

  /// Whether the connection is made; TLS's handshake may still be in progress.
  [[nodiscard]] bool connected() const noexcept { return connected_; }
  /// Whether received bytes have not been read yet.
  [[nodiscard]] bool has_input();
  /// Whether `done` says, after a failed write, how many bytes the kernel took.
  [[nodiscard]] virtual bool counts_written() const noexcept = 0;
  /// The error of a server that refused this client's certificate, if `error`, of a read, says so.
  [[nodiscard]] virtual std::optional<Error> refusal(const SystemError& error) const = 0;

 protected:
  using Protocol = boost::asio::generic::stream_protocol;
  using Socket = boost::asio::basic_stream_socket<Protocol, Executor>;

  RedisStream(boost::asio::io_context& io, const RedisOptions& options);
  /// Called when the connection is made. Must call `done` once.
  virtual void handshake(OnConnected done) = 0;

  const RedisOptions& options_;
  Socket socket_;

 private:
  using Tcp = boost::asio::ip::tcp;
  using Resolver = boost::asio::ip::basic_resolver<Tcp, Executor>;

  void resolve(OnConnected done);
  void connect_to(const std::vector<Protocol::endpoint>& endpoints, OnConnected done);
  [[nodiscard]] Error connect_error(std::string_view why) const;

  Resolver resolver_;
  bool connected_ = false;
  bool closed_ = false;
};

}  // namespace tarry::net
