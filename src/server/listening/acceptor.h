// Acceptor: accepts connections at one address at which a server listens.
//
// Invariants
//  1. It accepts until it is closed. After a failure it pauses: mostly descriptors have run out,
//     and other connections must close first. Failures in a row are reported once.
//  2. If `accepted` throws, `resume` continues accepting.
//
// Thread safety: the server's thread only, except for `open`.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>

#include <tarry/result.h>

#include "server/listening/socket.h"

namespace tarry::listening {

class Acceptor {
 public:
  using Accepted = std::function<void(Socket)>;
  using Failed = std::function<void(const std::string& reason)>;

  Acceptor(boost::asio::io_context& io, Accepted accepted, Failed failed);
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  /// Takes over a listening socket. Error: `io_error`; the socket is then closed.
  [[nodiscard]] Result<void> open(int family, int socket);
  /// Begins to accept, unless it accepts already or is closed.
  void resume();
  /// Accepts all connections that are established already. Without this, closing the listening
  /// socket would reset them, and the bytes that they sent would be lost.
  void take_waiting();
  void close();

 private:
  using Clock = std::chrono::steady_clock;
  using Timer = boost::asio::basic_waitable_timer<Clock, boost::asio::wait_traits<Clock>, Executor>;

  void pause(const boost::system::error_code& error);

  const Accepted accepted_;
  const Failed failed_;
  boost::asio::basic_socket_acceptor<boost::asio::generic::stream_protocol, Executor> acceptor_;
  Timer timer_;
  std::optional<Clock::time_point> last_failure_;
  bool accepts_ = false;  // or will accept after a pause
};

}  // namespace tarry::listening
