#include "relay/sinks/rabbitmq/rabbit_sink.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text/text.h"
#include "base/threads/wake_event.h"
#include "relay/rabbit/properties.h"
#include "relay/sinks/sink_thread.h"

namespace tarry::relay {
namespace {

constexpr int kLookAgainMs = 500;  // so that heartbeats and confirm time-outs are not missed

/// If a broker closed a channel because a body was too large, its limit in bytes. The broker's text
/// is "message size 30000 is larger than configured max size 20000".
std::optional<std::size_t> most_bytes_by(std::string_view reason) {
  constexpr std::string_view kMost = "max size ";
  const std::size_t at = reason.rfind(kMost);
  // The text of any other refusal may contain an exchange's name that looks like this.
  if (!reason.starts_with("PRECONDITION_FAILED - message size ") || at == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view digits = reason.substr(at + kMost.size());
  digits = digits.substr(0, digits.find_first_not_of("0123456789"));
  const auto most = base::parse_u64(digits, "max size", 1, SIZE_MAX);
  if (!most) return std::nullopt;
  return *most;
}

Answer too_large(std::size_t bytes, std::size_t most) {
  return refused("a body of " + std::to_string(bytes) + " bytes is larger than the broker takes, " +
                 std::to_string(most));
}

}  // namespace

class RabbitSink::Impl final : public SinkThread {
 public:
  explicit Impl(RabbitOptions options)
      : options_(std::move(options)), pending_(std::size_t{options_.channels} + 1) {
    begin();
  }
  ~Impl() override { end(); }
  [[nodiscard]] std::string title() const override {
    return "rabbitmq " + options_.host + ":" + std::to_string(options_.port) + ", exchange '" +
           options_.exchange + "'";
  }

 private:
  struct Published {
    Outgoing outgoing;
    std::string exchange;
    std::chrono::steady_clock::time_point at;
    std::string returned;  // the reason why the broker returned it; empty if it did not
  };

  void wake() override { wake_.set(); }
  /// Ends a write that blocks because the broker does not read.
  void interrupt() override {
    const std::lock_guard lock(socket_mutex_);
    if (socket_ >= 0) ::shutdown(socket_, SHUT_RDWR);
  }

  void wait() override {
    std::array<pollfd, 2> fds{{{wake_.descriptor(), POLLIN, 0}, {-1, POLLIN, 0}}};
    if (connection_) fds[1].fd = connection_->socket();
    static_cast<void>(::poll(fds.data(), fds.size(), connection_ ? kLookAgainMs : -1));
    wake_.clear();
  }
  void work(std::deque<Outgoing> arrived) override {
    listen();
    publish(arrived);
    listen();  // the socket no longer reports events that were read during publishing
    give_up_on_silence();
  }
  void stop(std::deque<Outgoing> arrived) override {
    disconnect(kStopped);
    refuse(arrived, kStopped);
  }

  void publish(std::deque<Outgoing>& batch) {
    if (batch.empty()) return;
    if (!connection_) connect();
    if (connection_) connection_->gather(true);
    while (connection_ && blocked_.empty() && !batch.empty()) {
      Outgoing outgoing = std::move(batch.front());
      batch.pop_front();
      if (outgoing.is_late()) {
        outgoing.done(too_late());
        continue;
      }
      const Delivery& delivery = outgoing.delivery;
      if (most_bytes_ && delivery.payload().size() > *most_bytes_) {
        outgoing.done(too_large(delivery.payload().size(), *most_bytes_));
        continue;
      }
      const auto channel = static_cast<std::uint16_t>(1 + delivery.id() % options_.channels);
      std::string exchange = named(delivery, options_.exchange_header).value_or(options_.exchange);
      const std::string key =
          named(delivery, options_.routing_key_header).value_or(options_.routing_key);
      if (exchange.size() > 255 || key.size() > 255) {
        outgoing.done(
            refused("an exchange's name and a routing key have up to 255 bytes; these have " +
                    std::to_string(exchange.size()) + " and " + std::to_string(key.size())));
        continue;
      }
      const auto properties = rabbit::properties_of(
          delivery, options_.user,
          options_.allow_copies ? rabbit::Copies::allowed : rabbit::Copies::refused);
      if (!properties) {
        outgoing.done(refused(properties.error().message));
        continue;
      }
      const auto tag =
          connection_->publish(channel, exchange, key, **properties, delivery.payload());
      if (!tag && tag.error().code == ErrorCode::invalid_argument) {
        outgoing.done(refused(tag.error().message));
        continue;
      }
      if (!tag) {
        outgoing.done(unknown(tag.error().message));
        disconnect(tag.error().message);
        why_down_ = tag.error().message;
        break;
      }
      pending_[channel].emplace(
          *tag,
          Published{
              std::move(outgoing), std::move(exchange), std::chrono::steady_clock::now(), {}});
    }
    if (connection_) connection_->gather(false);
    refuse(batch, blocked_.empty() ? why_down_ : blocked_);
  }

  static std::optional<std::string> named(const Delivery& delivery, const std::string& header) {
    if (header.empty()) return std::nullopt;
    const auto value = delivery.header(header);
    if (!value) return std::nullopt;
    return std::string(*value);
  }

  static void refuse(std::deque<Outgoing>& batch, const std::string& reason) {
    for (Outgoing& outgoing : batch) outgoing.done(sink_down(reason));
    batch.clear();
  }

  void connect() {
    auto opened = RabbitConnection::open(options_);
    if (!opened) {
      why_down_ = opened.error().message;
      return;
    }
    connection_ = *std::move(opened);
    const std::lock_guard lock(socket_mutex_);
    socket_ = connection_->socket();
    if (is_closed()) ::shutdown(socket_, SHUT_RDWR);
  }

  void disconnect(const std::string& reason) {
    {
      const std::lock_guard lock(socket_mutex_);
      socket_ = -1;
    }
    connection_.reset();
    most_bytes_.reset();
    blocked_.clear();
    for (auto& pending : pending_) {
      for (auto& [tag, published] : std::exchange(pending, {})) {
        published.outgoing.done(unknown(reason));
      }
    }
  }

  void listen() {
    while (connection_) {
      auto event = connection_->next();
      if (!event) return disconnect(event.error().message);
      if (!*event) return;
      std::visit([this](const auto& what) { take(what); }, **event);
    }
  }

  void take(const rabbit::Confirm& confirm) {
    auto& pending = pending_[confirm.channel];
    auto from = confirm.multiple ? pending.begin() : pending.find(confirm.tag);
    while (from != pending.end() && from->first <= confirm.tag) {
      Published published = std::move(from->second);
      from = pending.erase(from);
      if (!confirm.ack) {
        published.outgoing.done(try_again("the broker refused it (nack)"));
      } else if (!published.returned.empty()) {
        published.outgoing.done(try_again(published.returned));
      } else {
        published.outgoing.done(confirmed());
      }
      if (!confirm.multiple) return;
    }
  }
  void take(const rabbit::Returned& returned) {
    for (auto& [tag, published] : pending_[returned.channel]) {
      if (std::to_string(published.outgoing.delivery.id()) == returned.id &&
          published.returned.empty()) {
        published.returned = returned.reason;
        return;
      }
    }
  }
  void take(const rabbit::ChannelClosed& closed) {
    const auto most = most_bytes_by(closed.reason);
    // From now on larger bodies are refused here: each would close the channel, which costs the
    // other messages on it an attempt.
    if (most) most_bytes_ = most;
    for (auto& [tag, published] : std::exchange(pending_[closed.channel], {})) {
      const std::size_t bytes = published.outgoing.delivery.payload().size();
      if (most && bytes > *most) {
        published.outgoing.done(too_large(bytes, *most));
        continue;
      }
      const bool at_fault = closed.reason.find("'" + published.exchange + "'") != std::string::npos;
      if (at_fault && closed.not_found && published.exchange == options_.exchange) {
        // The exchange is from the options, not from the message. Messages must not become dead
        // only because the broker is not set up yet.
        published.outgoing.done(sink_down(closed.reason + "; declare it, the relay does not"));
        continue;
      }
      published.outgoing.done(at_fault ? try_again(closed.reason) : unknown(closed.reason));
    }
  }
  void take(const rabbit::Blocked& blocked) {
    blocked_ = "the broker takes nothing now: " + blocked.reason;
  }
  void take(const rabbit::Unblocked&) {
    blocked_.clear();
    const auto now = std::chrono::steady_clock::now();
    for (auto& pending : pending_) {
      for (auto& [tag, published] : pending) published.at = now;
    }
  }

  void give_up_on_silence() {
    // While the broker blocks publishers, heartbeats show whether it lives.
    if (!blocked_.empty()) return;
    const auto limit =
        std::chrono::steady_clock::now() - std::chrono::milliseconds(options_.confirm_timeout_ms);
    for (const auto& pending : pending_) {
      if (!pending.empty() && pending.begin()->second.at < limit) {
        return disconnect("the broker confirmed nothing for " +
                          std::to_string(options_.confirm_timeout_ms) + " ms");
      }
    }
  }

  const RabbitOptions options_;
  const base::WakeEvent wake_;
  std::mutex socket_mutex_;
  int socket_ = -1;  // the connection's socket, for `interrupt`

  // Used by the thread only.
  std::unique_ptr<RabbitConnection> connection_;
  // The largest body that this broker takes; empty: not known yet.
  std::optional<std::size_t> most_bytes_;
  std::string why_down_;
  // Why the broker blocks publishers; empty: it does not.
  std::string blocked_;
  std::vector<std::map<std::uint64_t, Published>> pending_;  // by channel, then tag
};

RabbitSink::RabbitSink(RabbitOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}
RabbitSink::~RabbitSink() = default;
void RabbitSink::send(std::vector<Outgoing> batch) { impl_->send(std::move(batch)); }
void RabbitSink::close() { impl_->close(); }
std::string RabbitSink::title() const { return impl_->title(); }

}  // namespace tarry::relay
