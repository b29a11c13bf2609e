#include "server/session/fronts.h"

#include <sys/socket.h>

#include <chrono>
#include <deque>
#include <thread>
#include <utility>

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/assert.h"
#include "base/threads/thread.h"
#include "server/listening/acceptor.h"
#include "server/listening/unix_listener.h"
#include "server/session/admission.h"
#include "server/session/server_context.h"

namespace tarry::session {

namespace asio = boost::asio;

class Fronts::Impl {
 public:
  Impl(core::Engine& engine, Options options)
      : context_(engine, std::move(options)),
        admission_(context_,
                   [this] {
                     if (context_.draining) finish_drain();
                   }),
        timer_(io_) {}

  ~Impl() { stop(); }

  Result<void> start(std::vector<Listening> places) {
    TARRY_ASSERT(!thread_.joinable());
    for (Listening& one : places) {
      OpenFront& front =
          fronts_.emplace_back(io_, one.front(context_), admission_, context_, stopping_);
      if (auto opened = front.open(std::move(one.place)); !opened) {
        fronts_.clear();
        return opened;
      }
    }
    thread_ = base::start_thread("tarry-server", [this] { run(); });
    return {};
  }

  void drain(Millis deadline, std::function<void(std::size_t)> done) {
    asio::post(io_, [this, deadline, done = std::move(done)]() mutable {
      if (context_.draining) {
        done(admission_.open());
        return;
      }
      context_.draining = true;
      drained_ = std::move(done);
      for (OpenFront& front : fronts_) {
        front.acceptor.take_waiting();
        front.close();
      }
      timer_.expires_after(deadline);
      timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) finish_drain();
      });
      admission_.for_each([this](Connection& connection) {
        context_.turns.run(io_.get_executor(),
                           [one = connection.shared_from_this()] { one->drain(); });
      });
      // Posted, so that it runs after a connection that has been accepted but not admitted yet.
      asio::post(io_, [this] {
        if (admission_.open() == 0) finish_drain();
      });
    });
  }

  void set_tokens(identity::Tokens tokens) {
    asio::post(io_, [this, tokens = std::move(tokens)]() mutable {
      context_.options.tokens = std::move(tokens);
      context_.forget_unknown_tokens();
      admission_.for_each([](Connection& connection) { connection.check_token(); });
    });
  }

  void set_audit(audit::FilePtr file) {
    asio::post(io_, [this, file = std::move(file)]() mutable {
      context_.trail.set_file(std::move(file));
    });
  }

  void set_tls(listening::TlsContext tls) {
    asio::post(io_,
               [this, tls = std::move(tls)]() mutable { context_.options.tls = std::move(tls); });
  }

  void set_limits(const Limits& limits) {
    asio::post(io_, [this, limits] { static_cast<Limits&>(context_.options) = limits; });
  }

  void stop() {
    if (!thread_.joinable()) return;
    TARRY_ASSERT(thread_.get_id() != std::this_thread::get_id());
    asio::post(io_, [this] {
      stopping_ = true;
      context_.draining = true;
      drained_ = nullptr;
      for (OpenFront& front : fronts_) front.close();
      timer_.cancel();
      admission_.for_each([](Connection& connection) { connection.close(); });
    });
    // The loop ends once nothing is open and the engine has answered everything.
    thread_.join();
  }

 private:
  /// A front with its acceptor, which accepts its clients.
  struct OpenFront {
    OpenFront(asio::io_context& io, std::unique_ptr<Front> made, Admission& admission,
              ServerContext& context, const bool& stopping)
        : front(std::move(made)),
          acceptor(
              io,
              [this, &admission, &context, &stopping](listening::Socket socket) {
                if (stopping) return;
                const auto tls = is_port ? context.options.tls : listening::TlsContext();
                admission.admit(*front, listening::Stream(std::move(socket), tls));
              },
              [&context](const std::string& reason) {
                context.warn("accept_failed",
                             "cannot accept a connection: " + reason + "; trying until it can");
              }) {}

    Result<void> open(std::variant<listening::ReservedPort, std::string> place) {
      int family = AF_UNIX;
      Result<int> socket = -1;
      if (auto* port = std::get_if<listening::ReservedPort>(&place)) {
        family = port->family();
        is_port = family != AF_UNIX;
        socket = std::move(*port).listen();
      } else {
        socket = unix_listener.listen(std::get<std::string>(place));
      }
      if (!socket) return std::move(socket).error();
      return acceptor.open(family, *socket);
    }
    void close() {
      acceptor.close();
      unix_listener.remove();
    }

    const std::unique_ptr<Front> front;
    bool is_port = false;
    listening::UnixListener unix_listener;
    listening::Acceptor acceptor;
  };

  // An exception from a handler is reported, and ends only that handler's own work.
  void run() {
    for (;;) {
      try {
        for (OpenFront& front : fronts_) front.acceptor.resume();
        io_.run();
        return;
      } catch (const std::exception& error) {
        context_.warn_of(error);
      }
    }
  }

  void finish_drain() {
    timer_.cancel();
    if (auto done = std::exchange(drained_, nullptr)) done(admission_.open());
  }

  using Clock = std::chrono::steady_clock;
  using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, listening::Executor>;

  ServerContext context_;
  Admission admission_;
  std::function<void(std::size_t)> drained_;
  bool stopping_ = false;
  // The handlers refer to the members above, so the loop is made after these, and destroyed before
  // them.
  asio::io_context io_{1};
  std::deque<OpenFront> fronts_;
  Timer timer_;
  std::thread thread_;
};

Fronts::Fronts(core::Engine& engine, Options options)
    : impl_(std::make_unique<Impl>(engine, std::move(options))) {}
Fronts::~Fronts() = default;

Result<void> Fronts::start(std::vector<Listening> places) {
  return impl_->start(std::move(places));
}
void Fronts::drain(Millis deadline, std::function<void(std::size_t)> done) {
  impl_->drain(deadline, std::move(done));
}
void Fronts::set_tokens(identity::Tokens tokens) { impl_->set_tokens(std::move(tokens)); }
void Fronts::set_audit(audit::FilePtr file) { impl_->set_audit(std::move(file)); }
void Fronts::set_tls(listening::TlsContext tls) { impl_->set_tls(std::move(tls)); }
void Fronts::set_limits(const Limits& limits) { impl_->set_limits(limits); }
void Fronts::stop() { impl_->stop(); }

}  // namespace tarry::session
