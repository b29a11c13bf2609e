#include "relay/sinks/redis/redis_sink.h"

#include <algorithm>
#include <array>
#include <deque>
#include <iterator>
#include <utility>
#include <variant>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/text/text.h"
#include "relay/message_text.h"
#include "relay/sinks/sink_thread.h"

namespace tarry::relay {
namespace {

/// The most bytes that may be unanswered at once, except that one message may be larger. A
/// message that the connection has got is sent even if its lease ends meanwhile. So few bytes may
/// wait there: about as many as the sockets' buffers hold.
constexpr std::size_t kMostUnanswered = 256 * 1024;
constexpr std::size_t kRestOfMessage = 256;  // about the bytes of key, headers and so on

net::RedisCommand stream_entry(const RedisTarget& target, const Delivery& delivery) {
  net::RedisCommand command("XADD", delivery.payload().size() + 256);
  command.key(target.name);
  if (target.max_length > 0) {
    command.add("MAXLEN").add("~").add(static_cast<std::int64_t>(target.max_length));
  }
  command.add("*");
  command.add("queue").add(delivery.queue());
  command.add("id").add(std::to_string(delivery.id()));
  command.add("key").add(delivery.key());
  command.add("attempt").add(std::int64_t{delivery.attempt()});
  command.add("due_ms").add(std::int64_t{delivery.due().time_since_epoch().count()});
  for (const Header& header : delivery.headers()) {
    command.add("header:", header.name).add(header.value);
  }
  command.add("payload").add(delivery.payload());
  return command;
}

net::RedisCommand command_for(const RedisTarget& target, const Delivery& delivery) {
  if (target.kind == RedisTarget::Kind::stream) return stream_entry(target, delivery);
  const bool list = target.kind == RedisTarget::Kind::list;
  const std::string line = json_line(delivery);
  net::RedisCommand command(list ? "RPUSH" : "PUBLISH", line.size() + 128);
  if (list) {
    command.key(target.name);
  } else {
    command.add(target.name);
  }
  command.add(line);
  return command;
}

/// Errors that concern all messages: the server accepts nothing from anyone, nothing from this
/// client, or nothing at the sink's key.
bool says_down(std::string_view error) {
  constexpr std::array<std::string_view, 14> kDown{
      "LOADING",     "OOM",      "READONLY", "MASTERDOWN", "NOREPLICAS", "BUSY",  "MISCONF",
      "CLUSTERDOWN", "TRYAGAIN", "NOPERM",   "NOAUTH",     "WRONGTYPE",  "MOVED", "ASK"};
  const std::string_view code = error.substr(0, error.find(' '));
  for (const std::string_view down : kDown) {
    if (code == down) return true;
  }
  return false;
}

Answer answer_of(const net::RedisAnswer& answer) {
  if (const auto* failure = std::get_if<net::RedisFailure>(&answer)) {
    return failure->sent ? unknown(failure->error.message) : sink_down(failure->error.message);
  }
  const net::RedisView view = std::get<net::RedisReply>(answer).view();
  if (!view.is_error()) return confirmed();
  const std::string reason = "redis: " + std::string(view.text());
  return says_down(view.text()) ? sink_down(reason) : try_again(reason);
}

class RedisSink final : public SinkThread {
 public:
  RedisSink(net::RedisOptions server, RedisTarget target)
      : server_(server.unix_path.empty() ? server.host + ":" + std::to_string(server.port)
                                         : server.unix_path),
        target_(std::move(target)),
        client_(std::make_unique<net::RedisClient>(io_, std::move(server))) {
    begin();
  }
  ~RedisSink() override {
    end();
    // This thread runs the callbacks that the client has not run yet.
    boost::asio::post(io_, [this] { client_.reset(); });
    guard_.reset();
    io_.run();
  }
  [[nodiscard]] std::string title() const override {
    constexpr std::array<std::string_view, 3> kKinds{"list", "stream", "channel"};
    return "redis " + server_ + ", " + std::string(kKinds[static_cast<std::size_t>(target_.kind)]) +
           " " + base::quoted(target_.name);
  }

 private:
  void wake() override {
    boost::asio::post(io_, [] {});
  }
  void wait() override { io_.run_one(); }
  void work(std::deque<Outgoing> arrived) override {
    std::ranges::move(arrived, std::back_inserter(waiting_));
    begin_some();
  }
  /// `close` fails all outstanding commands of the client, and all commands after it.
  void stop(std::deque<Outgoing> arrived) override {
    client_->close();
    work(std::move(arrived));
  }

  // Begins messages while the server can take them. Until then they wait in this queue, because
  // their leases are checked here.
  void begin_some() {
    if (waiting_.empty() || knocking_) return;
    if (!client_->is_connected()) return knock();
    while (!waiting_.empty() && unanswered_ < kMostUnanswered) {
      Outgoing outgoing = std::move(waiting_.front());
      waiting_.pop_front();
      if (outgoing.is_late()) {
        outgoing.done(too_late());
      } else {
        begin_one(std::move(outgoing));
      }
    }
  }

  void begin_one(Outgoing outgoing) {
    const std::size_t size = outgoing.delivery.payload().size() + kRestOfMessage;
    unanswered_ += size;
    client_->send(
        command_for(target_, outgoing.delivery),
        [this, size, done = std::move(outgoing.done)](const net::RedisAnswer& answer) mutable {
          unanswered_ -= size;
          done(answer_of(answer));
          begin_some();
        });
  }

  void knock() {
    knocking_ = true;
    client_->send(net::RedisCommand("PING"), [this](const net::RedisAnswer& answer) {
      knocking_ = false;
      if (const auto* failure = std::get_if<net::RedisFailure>(&answer)) {
        for (Outgoing& outgoing : std::exchange(waiting_, {})) {
          outgoing.done(sink_down(failure->error.message));
        }
      }
      begin_some();
    });
  }

  const std::string server_;
  const RedisTarget target_;
  boost::asio::io_context io_{1};
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_{
      io_.get_executor()};
  // Used by the thread only.
  std::deque<Outgoing> waiting_;
  std::size_t unanswered_ = 0;  // about the bytes that the client has
  bool knocking_ = false;       // a PING tests whether a connection is possible
  std::unique_ptr<net::RedisClient> client_;
};

}  // namespace

std::unique_ptr<Sink> redis_sink(net::RedisOptions server, RedisTarget target) {
  return std::make_unique<RedisSink>(std::move(server), std::move(target));
}

}  // namespace tarry::relay
