#include "net/redis/redis_client.h"

#include <chrono>
#include <deque>
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>

#include "base/assert.h"
#include "net/redis/redis_backoff.h"
#include "net/redis/redis_link.h"
#include "net/redis/redis_sentinels.h"
#include "net/redis/redis_subscriber.h"

namespace tarry::net {
namespace {

namespace asio = boost::asio;

// If the client was not redirected to a replica for this long, the pauses between such redirections
// start again with the shortest.
constexpr std::chrono::seconds kForgetLeavesAfter{10};

}  // namespace

class RedisClient::Impl : public std::enable_shared_from_this<RedisClient::Impl> {
 public:
  using Done = Redis::Done;
  using OnMessage = Redis::OnMessage;
  using OnSubscribed = Redis::OnSubscribed;

  Impl(asio::io_context& io, RedisOptions options) : io_(io), options_(std::move(options)) {
    if (options_.sentinels) sentinels_ = std::make_shared<RedisSentinels>(io_, options_);
  }

  void send(std::string_view bytes, std::size_t replies, Done done) {
    if (replies == 0) {
      fail_soon(std::move(done), {ErrorCode::invalid_argument, "no Redis commands to send"});
    } else if (closed_) {
      fail_soon(std::move(done),
                {ErrorCode::closed, "the client of Redis at " + server() + " is closed"});
    } else if (is_connected()) {
      outstanding_.push_back({std::move(done), link_->sent(), replies});
      link_->send(bytes, replies);
    } else if (!link_ && Clock::now() < next_attempt_) {
      fail_soon(std::move(done), last_error_);
    } else {
      held_.push_back({std::string(bytes), replies, std::move(done)});
      if (!link_) connect();
    }
  }

  void subscribe(RedisChannels kind, std::vector<std::string> channels, OnMessage on_message,
                 OnSubscribed on_subscribed) {
    TARRY_ASSERT(!subscriber_ && !channels.empty());
    if (closed_) return;
    subscriber_ = std::make_shared<RedisSubscriber>(io_, options_, kind, std::move(channels),
                                                    std::move(on_message), std::move(on_subscribed),
                                                    sentinels_);
    subscriber_->start();
  }

  void close() {
    if (std::exchange(closed_, true)) return;
    if (subscriber_) subscriber_->close();
    if (sentinels_) sentinels_->close();
    if (const auto link = std::exchange(link_, nullptr)) {
      link->end({ErrorCode::closed,
                 "the client of Redis at " + server() + " was closed before the answer came"});
    }
  }

  [[nodiscard]] bool is_connected() const noexcept { return link_ && link_->ready() && !leaving_; }
  [[nodiscard]] std::uint64_t connections() const noexcept { return connections_; }
  [[nodiscard]] bool is_idle() const noexcept { return outstanding_.empty() && held_.empty(); }
  [[nodiscard]] std::string server() const {
    return sentinels_ ? sentinels_->server() : redis_server_name(options_);
  }

 private:
  using Clock = RedisBackoff::Clock;
  // A command that waits for the connection.
  struct Held {
    std::string bytes;
    std::size_t replies = 0;
    Done done;
  };
  // A command that waits for its replies.
  struct Outstanding {
    Done done;
    std::uint64_t start = 0;  // the offset of its first byte, in the link's count `sent`
    std::size_t replies = 0;
  };

  // The link owns this object until the link's end, so that every `done` runs, whatever the
  // client's owner does.
  void connect() {
    const auto self = shared_from_this();
    link_ = std::make_shared<RedisLink>(
        io_, options_,
        RedisLink::Events{[self] { self->on_ready(); },
                          [self](RedisReply reply) { self->on_reply(std::move(reply)); },
                          [self](RedisLink::End end) { self->on_end(end); }},
        sentinels_);
    link_->start();
  }

  void on_ready() {
    if (sentinels_) follow_master();
    if (leaving_) {
      ++left_at_once_;
      return;
    }
    left_at_once_ = 0;
    backoff_.succeeded();
    // If nobody has reported a new master, the subscription may still be on the old one, which may
    // be a replica now.
    if (sentinels_ && subscriber_) subscriber_->follow();
    ++connections_;
    for (Held& held : std::exchange(held_, {})) {
      outstanding_.push_back({std::move(held.done), link_->sent(), held.replies});
      link_->send(held.bytes, held.replies);
    }
  }

  // A sentinel has reported that another server is the master, so commands on this connection reach
  // the wrong server.
  void follow_master() {
    if (!watching_) {
      watching_ = true;
      sentinels_->watch([self = weak_from_this()] {
        if (const auto client = self.lock()) client->on_switched();
      });
    }
    if (!(link_->address() == sentinels_->master())) leave("is not the master any more");
  }

  void on_switched() {
    if (closed_) return;
    if (link_ && link_->ready()) follow_master();
    if (!link_) {  // the new master can be reached, so there is no reason to wait
      backoff_.succeeded();
      next_attempt_ = {};
    }
    if (subscriber_) subscriber_->follow();
  }

  // Without sentinels, the host name may lead to another server by now; or the user has named a
  // replica. In the latter case a new connection leads to the same server, so the client does not
  // reconnect after each such answer.
  bool may_leave() {
    if (sentinels_) return true;
    const auto now = Clock::now();
    if (now < next_leave_) return false;
    if (now > next_leave_ + kForgetLeavesAfter) leave_backoff_.succeeded();
    next_leave_ = now + leave_backoff_.failed();
    if (subscriber_) subscriber_->renew();
    return true;
  }

  // Ends the connection once all sent commands have their answers.
  void leave(std::string_view why) {
    if (std::exchange(leaving_, true)) return;
    leaving_why_ = "Redis at " + server() + " " + std::string(why);
    end_if_left();
  }

  void end_if_left() {
    if (leaving_ && link_ && outstanding_.empty())
      link_->end({ErrorCode::unavailable, leaving_why_});
  }

  static bool is_of_replica(RedisView reply) noexcept {
    if (!reply.is_error()) return false;
    // In an error of a script, Redis 6.2 puts other words before READONLY.
    return reply.text().starts_with("READONLY") ||
           reply.text().find(" -READONLY ") != std::string_view::npos;
  }

  void on_reply(RedisReply reply) {
    if (outstanding_.empty()) {
      link_->end(
          {ErrorCode::unavailable, "Redis at " + server() + " sent a reply without a request"});
      return;
    }
    const bool replica = is_of_replica(reply.view());
    Outstanding& first = outstanding_.front();
    if (--first.replies == 0) {
      Done done = std::move(first.done);
      outstanding_.pop_front();
      done(std::move(reply));
    }
    if (replica && link_ && may_leave()) leave("is a replica now");
    end_if_left();
  }

  void on_end(const RedisLink::End& end) {
    link_.reset();
    leaving_ = false;
    auto outstanding = std::exchange(outstanding_, {});
    std::deque<Held> held;
    if (closed_ || !end.was_ready || left_at_once_ > 1) {
      held.swap(held_);
      last_error_ = end.error;
      next_attempt_ = Clock::now() + backoff_.failed();
    } else if (!held_.empty()) {  // these commands came after the connection broke
      connect();
    }
    for (Outstanding& each : outstanding) {
      const bool sent = each.start < end.taken;
      const ErrorCode code = sent ? ErrorCode::unknown_outcome : end.error.code;
      each.done(RedisFailure{{code, end.error.message}, sent});
    }
    for (Held& each : held) each.done(RedisFailure{end.error, false});
  }

  void fail_soon(Done done, Error error) {
    asio::post(io_, [done = std::move(done), error = std::move(error)]() mutable {
      done(RedisFailure{std::move(error), false});
    });
  }

  asio::io_context& io_;
  const RedisOptions options_;
  bool closed_ = false;
  std::shared_ptr<RedisSentinels> sentinels_;  // null: one server, at a known place
  bool watching_ = false;
  std::shared_ptr<RedisLink> link_;
  bool leaving_ = false;  // the connection no longer leads to a master
  std::string leaving_why_;
  int left_at_once_ = 0;  // how many connections in a row had to be left as soon as they were ready
  std::shared_ptr<RedisSubscriber> subscriber_;
  std::deque<Held> held_;
  std::deque<Outstanding> outstanding_;
  std::uint64_t connections_ = 0;
  RedisBackoff backoff_;
  Clock::time_point next_attempt_;
  RedisBackoff leave_backoff_;
  Clock::time_point next_leave_;
  Error last_error_;
};

RedisClient::RedisClient(asio::io_context& io, RedisOptions options)
    : impl_(std::make_shared<Impl>(io, std::move(options))) {}
RedisClient::~RedisClient() { impl_->close(); }

void RedisClient::send(RedisCommand command, Done done) {
  impl_->send(std::move(command).take(), 1, std::move(done));
}

void RedisClient::send(std::vector<RedisCommand> commands, Done done) {
  std::string bytes;
  for (RedisCommand& command : commands) bytes += std::move(command).take();
  impl_->send(std::move(bytes), commands.size(), std::move(done));
}

void RedisClient::send(std::string_view bytes, std::size_t replies, Done done) {
  impl_->send(bytes, replies, std::move(done));
}

void RedisClient::send_to_masters(RedisCommand command, EachDone done) {
  send(std::move(command), [impl = impl_, done = std::move(done)](RedisAnswer answer) mutable {
    std::vector<NodeAnswer> only;
    only.push_back({impl->server(), std::move(answer)});
    done(std::move(only));
  });
}

void RedisClient::subscribe(RedisChannels kind, std::vector<std::string> channels,
                            OnMessage on_message, OnSubscribed on_subscribed) {
  impl_->subscribe(kind, std::move(channels), std::move(on_message), std::move(on_subscribed));
}

void RedisClient::close() { impl_->close(); }

bool RedisClient::is_connected() const noexcept { return impl_->is_connected(); }
std::uint64_t RedisClient::connections() const noexcept { return impl_->connections(); }
bool RedisClient::is_idle() const noexcept { return impl_->is_idle(); }

std::string RedisClient::server() const { return impl_->server(); }

}  // namespace tarry::net
