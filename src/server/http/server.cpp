#include "server/http/server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/post.hpp>

#include "base/assert.h"
#include "base/thread.h"
#include "base/token.h"
#include "server/http/front.h"
#include "server/listening/reserved_port.h"
#include "server/listening/unix_listener.h"

namespace tarry::http {
namespace {

namespace asio = boost::asio;
using asio::generic::stream_protocol;
using boost::system::error_code;
using listening::Executor;
using listening::Socket;
using Clock = std::chrono::steady_clock;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;

// For probes, for what settles, and to tell others 503 rather than nothing; beyond these a flood is
// not worth an answer. At most a quarter of the connections: where descriptors are few, they are
// wanted elsewhere.
std::size_t reserve_beside(std::size_t connections) {
  constexpr std::size_t kMostOnReserve = 100;
  return std::clamp<std::size_t>(connections / 4, 1, kMostOnReserve);
}

// After a failed accept (out of descriptors, mostly): somebody has to close first.
constexpr Millis kAcceptPause{100};
// No more can wait to be accepted, unless the system was told otherwise.
constexpr int kMostWaiting = 4'096;
// Failures that follow each other within this are one trouble, and warned of once.
constexpr std::chrono::minutes kOneTrouble{1};

Result<void> check_own_token(const std::string& token) {
  if (token.empty()) return {};  // nobody is asked for one
  const auto good = base::check_server_token(token);
  if (good) return {};
  return Error(good.error().code, "the server's token: " + good.error().message);
}

}  // namespace

class Server::Impl {
 public:
  Impl(core::Engine& engine, ServerOptions options)
      : options_(std::move(options)),
        context_(engine, options_),
        front_(context_, options_),
        acceptor_(io_),
        timer_(io_) {
    context_.closed = [this](session::Connection* connection) { on_closed(connection); };
  }

  ~Impl() { stop(); }

  Result<std::uint16_t> start() {
    if (const auto good = check_own_token(context_.options.token); !good) return good.error();
    if (options_.unix_path.empty()) {
      auto place = listening::ReservedPort::reserve(options_.address, options_.port);
      if (!place) return std::move(place).error();
      return start(std::move(*place));
    }
    auto socket = unix_listener_.listen(options_.unix_path);
    if (!socket) return std::move(socket).error();
    if (const auto begun = begin(AF_UNIX, *socket); !begun) {
      unix_listener_.remove();
      return begun.error();
    }
    return 0;
  }

  Result<std::uint16_t> start(listening::ReservedPort place) {
    if (const auto good = check_own_token(context_.options.token); !good) return good.error();
    const int family = place.family();
    const std::uint16_t port = place.port();
    const auto socket = std::move(place).listen();
    if (!socket) return socket.error();
    if (const auto begun = begin(family, *socket); !begun) return begun.error();
    return port;
  }

  void drain(Millis deadline, std::function<void(std::size_t)> done) {
    asio::post(io_, [this, deadline, done = std::move(done)]() mutable {
      if (context_.draining) {
        done(connections_.size());
        return;
      }
      context_.draining = true;
      drained_ = std::move(done);
      admit_waiting();
      close_acceptor();
      timer_.expires_after(deadline);
      timer_.async_wait([this](const error_code& error) {
        if (!error) finish_drain();
      });
      for_each_connection([this](session::Connection& connection) {
        context_.turns.run(io_.get_executor(),
                           [one = connection.shared_from_this()] { one->drain(); });
      });
      // Behind one that has been accepted, and is not admitted yet.
      asio::post(io_, [this] {
        if (connections_.empty()) finish_drain();
      });
    });
  }

  Result<void> set_token(std::string token) {
    if (const auto good = check_own_token(token); !good) return good;
    asio::post(io_, [this, token = std::move(token)]() mutable {
      const bool other = token != context_.options.token;
      context_.options.token = std::move(token);
      if (!other || context_.options.token.empty()) return;
      for_each_connection([](session::Connection& connection) { connection.revoke(); });
    });
    return {};
  }

  void set_limits(const session::Limits& limits) {
    asio::post(io_, [this, limits] { static_cast<session::Limits&>(context_.options) = limits; });
  }

  void stop() {
    if (!thread_.joinable()) return;
    TARRY_ASSERT(thread_.get_id() != std::this_thread::get_id());
    asio::post(io_, [this] {
      stopping_ = true;
      context_.draining = true;
      drained_ = nullptr;
      close_acceptor();
      timer_.cancel();
      for_each_connection([](session::Connection& connection) { connection.close(); });
    });
    // The loop runs dry once nothing is open and the engine has answered everything.
    thread_.join();
  }

 private:
  Result<void> begin(int family, int socket) {
    TARRY_ASSERT(!thread_.joinable());
    error_code error;
    acceptor_.assign(stream_protocol(family, 0), socket, error);
    if (error) {
      ::close(socket);
      return Unexpected(ErrorCode::io_error, "cannot accept connections: " + error.message());
    }
    accept();
    thread_ = base::start_thread("tarry-http", [this] { run(); });
    return {};
  }

  // What leaves a handler is told, and ends nothing but what that handler was about.
  void run() {
    for (;;) {
      try {
        if (!accepts_ && acceptor_.is_open()) accept();
        io_.run();
        return;
      } catch (const std::exception& error) {
        context_.warn_of(error);
      }
    }
  }

  void accept() {
    acceptor_.async_accept([this](const error_code& error, Socket socket) {
      accepts_ = false;
      // One may have been accepted as the drain began.
      if (!error && !stopping_) admit(std::move(socket));
      if (!acceptor_.is_open()) return;
      if (error) {
        pause_accepting(error);
        return;
      }
      accept();
    });
    accepts_ = true;
  }

  // Those that have connected already: to close the acceptor would reset them, with what they sent.
  void admit_waiting() {
    error_code error;
    acceptor_.non_blocking(true, error);
    for (int left = kMostWaiting; left > 0 && !error; --left) {
      Socket socket(io_.get_executor());
      acceptor_.accept(socket, error);
      if (!error) admit(std::move(socket));
    }
  }

  void pause_accepting(const error_code& error) {
    const auto now = Clock::now();
    if (!accept_failed_ || now - *accept_failed_ > kOneTrouble) {
      context_.warn("accept_failed",
                    "cannot accept a connection: " + error.message() + "; trying until it can");
    }
    accept_failed_ = now;
    timer_.expires_after(kAcceptPause);
    timer_.async_wait([this](const error_code& cancelled) {
      accepts_ = false;
      if (!cancelled && acceptor_.is_open()) accept();
    });
    accepts_ = true;
  }

  void admit(Socket socket) {
    const std::size_t most = context_.options.max_connections;
    if (connections_.size() >= most) close_an_idle_one();
    const std::size_t open = connections_.size();
    if (open >= most + reserve_beside(most)) return;  // closes it
    auto connection = front_.connect(std::move(socket));
    connections_.emplace(connection.get(), connection);
    context_.meter.connected();
    using Place = session::Connection::Place;
    connection->start(open < most ? Place::regular : Place::reserve);
  }

  // Silent ones would keep everybody else out. The client of one that was only kept for later
  // connects anew.
  void close_an_idle_one() {
    constexpr int kMostTries = 8;  // something may have come that is not read yet
    for (int tries = 0; tries < kMostTries && !context_.idle.empty(); ++tries) {
      session::Connection* longest = context_.idle.front();
      const auto kept = connections_.at(longest);
      if (kept->give_way()) {
        const std::string text = "there are " + std::to_string(context_.options.max_connections) +
                                 " connections, which is the limit; the one that was idle for the "
                                 "longest was closed";
        if (const auto line = refusals_.line(text, Clock::now())) {
          context_.warn("connection_limit", *line);
        }
        return;
      }
      context_.idle.splice(context_.idle.end(), context_.idle, context_.idle.begin());
    }
  }

  void on_closed(session::Connection* connection) {
    connections_.erase(connection);
    context_.meter.disconnected();
    if (connections_.empty() && context_.draining) finish_drain();
  }

  // Connections leave the map while they are visited.
  template <typename Visit>
  void for_each_connection(Visit visit) {
    std::vector<std::shared_ptr<session::Connection>> open;
    open.reserve(connections_.size());
    for (const auto& [key, connection] : connections_) open.push_back(connection);
    for (const auto& connection : open) visit(*connection);
  }

  void close_acceptor() {
    error_code ignored;
    acceptor_.close(ignored);
    unix_listener_.remove();
  }

  void finish_drain() {
    timer_.cancel();
    if (auto done = std::exchange(drained_, nullptr)) done(connections_.size());
  }

  const ServerOptions options_;
  session::ServerContext context_;
  Front front_;
  session::LogThrottle refusals_;  // of connections beyond the limit
  listening::UnixListener unix_listener_;
  std::unordered_map<session::Connection*, std::shared_ptr<session::Connection>> connections_;
  std::function<void(std::size_t)> drained_;
  std::optional<Clock::time_point> accept_failed_;  // the last time
  bool stopping_ = false;
  bool accepts_ = false;  // or will, after a pause
  // The last to be made, the first to go: what it still holds refers to the above.
  asio::io_context io_{1};
  asio::basic_socket_acceptor<stream_protocol, Executor> acceptor_;
  Timer timer_;
  std::thread thread_;
};

Server::Server(core::Engine& engine, ServerOptions options)
    : impl_(std::make_unique<Impl>(engine, std::move(options))) {}
Server::~Server() = default;

Result<std::uint16_t> Server::start() { return impl_->start(); }
Result<std::uint16_t> Server::start(listening::ReservedPort place) {
  return impl_->start(std::move(place));
}
void Server::drain(Millis deadline, std::function<void(std::size_t)> done) {
  impl_->drain(deadline, std::move(done));
}
Result<void> Server::set_token(std::string token) { return impl_->set_token(std::move(token)); }

void Server::set_limits(const session::Limits& limits) { impl_->set_limits(limits); }
void Server::stop() { impl_->stop(); }

}  // namespace tarry::http
