// One connection of an HttpClient: connects, writes a request, reads its answer, and is then kept
// for the next request or closed.
//
// Thread safety: none; on the io_context's thread.
//
// Invariants
//  1. Once connected, a read is always outstanding. So the link notices if the server closes an
//     idle connection, or answers before the request is written.
//  2. A request's end is reported exactly once, by `on_end`; after that the link is idle or closed.
//  3. `on_end` says "sent" if, and only if, the kernel had taken the whole request, and the server
//     has not refused the connection.
//  4. With TLS, nothing is written before the handshake has succeeded.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/basic_resolver.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "net/http/http_client.h"

namespace tarry::net {

class TlsClient;
class TlsStream;

class HttpLink : public std::enable_shared_from_this<HttpLink> {
 public:
  using Clock = std::chrono::steady_clock;
  using Executor = boost::asio::io_context::executor_type;

  /// The end of a request: the answer, or why there is none. After it the link is idle if
  /// `reusable` is true, otherwise closed.
  struct End {
    HttpAnswer answer;
    bool reusable = false;
    bool silent = false;  // the server ended the connection, and had never sent a byte on it
  };
  using OnEnd = std::function<void(HttpLink&, End)>;
  /// Called when the server has closed an idle connection, or it was idle for too long.
  using OnDead = std::function<void(HttpLink&)>;

  /// `tls`: null for a connection without TLS.
  HttpLink(boost::asio::io_context& io, const HttpClientOptions& options,
           std::shared_ptr<TlsClient> tls, OnEnd on_end, OnDead on_dead);
  ~HttpLink();

  /// Begins a request; no other may be in progress. `head` and `body` must live until its end.
  void ask(const std::string& head, const std::string& body, Clock::time_point deadline);
  /// See HttpClient::hang_up. Ends the request at once if sending it has not begun.
  void hang_up();
  /// Ends the request, if there is one, with `error`.
  void fail(Error error);
  void close();

  /// Whether it is connected and the server has not closed it, as far as the kernel knows.
  [[nodiscard]] bool alive();

 private:
  using TcpSocket = boost::asio::basic_stream_socket<boost::asio::ip::tcp, Executor>;
  using Socket = boost::asio::basic_stream_socket<boost::asio::generic::stream_protocol, Executor>;
  using Resolver = boost::asio::ip::basic_resolver<boost::asio::ip::tcp, Executor>;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor>;
  enum class State : std::uint8_t { fresh, connecting, asking, idle, closed };
  enum class Written : std::uint8_t { no, going_on, failed, whole };

  void connect();
  void on_resolved(const Resolver::results_type& found);
  void on_connected();
  void shake_hands();
  void begin();
  void connect_failed(std::string_view why);
  void no_tls(Error error);
  void write();
  void on_written(bool whole);
  void read();
  void on_read(const boost::system::error_code& error, std::size_t size);
  void take(std::string_view bytes);
  void read_failed(std::string_view why);
  void refused(Error error);
  void end_read(Error error);
  void half_close();
  void finish(HttpAnswer answer, bool reusable);
  void arm(Clock::time_point when);  // replaces the time of the last call
  void on_timer();
  [[nodiscard]] std::string server() const;

  const HttpClientOptions& options_;
  OnEnd on_end_;
  OnDead on_dead_;
  Resolver resolver_;
  TcpSocket connecting_;  // becomes socket_ when it is connected
  Socket socket_;
  Timer timer_;
  const std::shared_ptr<TlsClient> tls_client_;
  std::unique_ptr<TlsStream> tls_;  // over socket_

  State state_ = State::fresh;
  Written written_ = Written::no;
  bool hung_up_ = false;
  bool heard_ = false;    // a byte has come on this connection
  bool silent_ = false;   // see End
  bool refused_ = false;  // the server has refused the connection, and so the request
  const std::string* head_ = nullptr;
  const std::string* body_ = nullptr;
  Clock::time_point deadline_;
  Clock::time_point due_;  // when on_timer is to run
  std::optional<Clock::time_point> armed_for_;
  std::optional<Error> failure_;  // kept until the write ends, which tells whether the request was
                                  // sent
  std::optional<HttpParser> parser_;
  std::vector<char> chunk_;
  std::string held_;
};

}  // namespace tarry::net
