#include "relay/sinks/rabbitmq/rabbit_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "net/rabbit/library.h"
#include "net/rabbit/link.h"
#include "relay/rabbit/properties.h"

namespace tarry::relay {

using net::rabbit::amqp_view;
using net::rabbit::in_one_line;

namespace {

constexpr std::size_t kFrameOverhead = 8;  // AMQP 0-9-1, 4.2.3: seven bytes before, one after
// Erlang keeps binaries of up to 64 bytes within a process. Larger ones are kept outside and
// counted, which costs RabbitMQ more than a further frame does: docs/decisions/0003-speed.md has
// the measurements.
constexpr std::size_t kLeanFrame = 64;
constexpr std::size_t kShortBody = 4 * kLeanFrame;

}  // namespace

class RabbitConnection::Impl {
 public:
  explicit Impl(const RabbitOptions& options)
      : link_(options), channels_(std::size_t{options.channels} + 1) {}

  Result<void> open(const RabbitOptions& options) {
    if (auto opened = link_.open(options); !opened) return opened;
    for (std::size_t i = 1; i < channels_.size(); ++i) {
      if (auto opened = open_channel(static_cast<amqp_channel_t>(i)); !opened) return opened;
    }
    return {};
  }

  Result<std::uint64_t> publish(std::uint16_t channel, const std::string& exchange,
                                const std::string& routing_key,
                                const rabbit::Properties& properties, std::string_view body) {
    if (auto fits = check_room(properties); !fits) return fits.error();
    amqp_basic_publish_t method{};
    method.exchange = amqp_view(exchange);
    method.routing_key = amqp_view(routing_key);
    method.mandatory = 1;
    int status = amqp_send_method(link_.state(), channel, AMQP_BASIC_PUBLISH_METHOD, &method);
    if (status == AMQP_STATUS_OK) status = send_properties(channel, properties, body.size());
    if (status == AMQP_STATUS_OK) status = send_body(channel, body);
    if (status != AMQP_STATUS_OK) return link_.failure(status);
    return ++channels_[channel].published;
  }

  Result<std::optional<rabbit::Event>> next() {
    for (;;) {
      amqp_frame_t frame{};
      const auto came = link_.next(frame);
      if (!came) return came.error();
      if (!*came) return std::optional<rabbit::Event>();
      if (frame.channel >= channels_.size()) continue;
      if (frame.frame_type == AMQP_FRAME_HEADER) {
        if (auto returned = take_returned(frame)) return std::optional<rabbit::Event>(*returned);
      } else if (frame.frame_type == AMQP_FRAME_METHOD) {
        auto event = take_method(frame);
        if (!event || *event) return event;
      }
    }
  }

  void gather(bool on) const {
    const int value = on ? 1 : 0;
    // If this fails, the only effect is that more packets are sent.
    static_cast<void>(::setsockopt(link_.socket(), IPPROTO_TCP, TCP_CORK, &value, sizeof value));
  }

  [[nodiscard]] int socket() const { return link_.socket(); }

 private:
  struct Channel {
    std::uint64_t published = 0;
    // The reason, until the properties of the returned message arrive.
    std::optional<std::string> returning;
  };

  Result<void> check_room(const rabbit::Properties& properties) {
    const std::size_t room = link_.properties_room();
    scratch_.resize(room);
    // The library only reads the properties.
    auto* decoded = const_cast<amqp_basic_properties_t*>(&properties.get());
    if (amqp_encode_properties(AMQP_BASIC_CLASS, decoded, amqp_view(scratch_)) >= 0) return {};
    return Error{ErrorCode::invalid_argument,
                 "headers and properties of " + std::to_string(properties.size()) +
                     " bytes, encoded, do not fit the broker's frame, which has room for " +
                     std::to_string(room)};
  }

  int send_properties(amqp_channel_t channel, const rabbit::Properties& properties,
                      std::size_t body_size) {
    amqp_frame_t frame{};
    frame.frame_type = AMQP_FRAME_HEADER;
    frame.channel = channel;
    frame.payload.properties.class_id = AMQP_BASIC_CLASS;
    frame.payload.properties.body_size = body_size;
    // The library only reads the properties.
    frame.payload.properties.decoded = const_cast<amqp_basic_properties_t*>(&properties.get());
    return amqp_send_frame(link_.state(), &frame);
  }

  int send_body(amqp_channel_t channel, std::string_view body) {
    const auto frame_max = static_cast<std::size_t>(amqp_get_frame_max(link_.state()));
    const std::size_t most = body.size() <= kShortBody ? kLeanFrame : frame_max - kFrameOverhead;
    while (!body.empty()) {
      amqp_frame_t frame{};
      frame.frame_type = AMQP_FRAME_BODY;
      frame.channel = channel;
      frame.payload.body_fragment = amqp_view(body.substr(0, most));
      if (const int status = amqp_send_frame(link_.state(), &frame); status != AMQP_STATUS_OK) {
        return status;
      }
      body.remove_prefix(std::min(most, body.size()));
    }
    return AMQP_STATUS_OK;
  }

  Result<void> open_channel(amqp_channel_t channel) {
    if (auto opened = link_.open_channel(channel, true); !opened) return opened;
    channels_[channel] = {};
    return {};
  }

  std::optional<rabbit::Event> take_returned(const amqp_frame_t& frame) {
    auto& returning = channels_[frame.channel].returning;
    if (!returning || frame.payload.properties.class_id != AMQP_BASIC_CLASS) return std::nullopt;
    const auto* properties =
        static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
    return rabbit::Returned{frame.channel, rabbit::id_of(*properties),
                            *std::exchange(returning, std::nullopt)};
  }

  Result<std::optional<rabbit::Event>> take_method(const amqp_frame_t& frame) {
    using Optional = std::optional<rabbit::Event>;
    const amqp_method_t& method = frame.payload.method;
    switch (method.id) {
      case AMQP_BASIC_ACK_METHOD: {
        const auto* ack = static_cast<const amqp_basic_ack_t*>(method.decoded);
        return Optional(
            rabbit::Confirm{frame.channel, ack->delivery_tag, ack->multiple != 0, true});
      }
      case AMQP_BASIC_NACK_METHOD: {
        const auto* nack = static_cast<const amqp_basic_nack_t*>(method.decoded);
        return Optional(
            rabbit::Confirm{frame.channel, nack->delivery_tag, nack->multiple != 0, false});
      }
      case AMQP_BASIC_RETURN_METHOD: {
        const auto* back = static_cast<const amqp_basic_return_t*>(method.decoded);
        channels_[frame.channel].returning =
            "returned by exchange '" + in_one_line(back->exchange) + "' with routing key '" +
            in_one_line(back->routing_key) + "': " + in_one_line(back->reply_text);
        return Optional();
      }
      case AMQP_CHANNEL_CLOSE_METHOD: {
        const auto* closed = static_cast<const amqp_channel_close_t*>(method.decoded);
        rabbit::ChannelClosed event{frame.channel, closed->reply_code == AMQP_NOT_FOUND,
                                    in_one_line(closed->reply_text)};
        amqp_channel_close_ok_t ok{};
        if (const int status =
                amqp_send_method(link_.state(), frame.channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
            status != AMQP_STATUS_OK) {
          return link_.failure(status);
        }
        if (auto opened = open_channel(frame.channel); !opened) return opened.error();
        return Optional(std::move(event));
      }
      case AMQP_CONNECTION_CLOSE_METHOD: {
        const auto* closed = static_cast<const amqp_connection_close_t*>(method.decoded);
        return link_.failure(in_one_line(closed->reply_text));
      }
      case AMQP_CONNECTION_BLOCKED_METHOD: {
        const auto* blocked = static_cast<const amqp_connection_blocked_t*>(method.decoded);
        return Optional(rabbit::Blocked{in_one_line(blocked->reason)});
      }
      case AMQP_CONNECTION_UNBLOCKED_METHOD: return Optional(rabbit::Unblocked{});
      default: return Optional();
    }
  }

  net::rabbit::RabbitLink link_;
  // Properties are encoded here to see whether they fit into a frame.
  std::string scratch_;
  std::vector<Channel> channels_;  // by number; 0 is the connection's own
};

RabbitConnection::RabbitConnection(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RabbitConnection::~RabbitConnection() = default;

Result<std::unique_ptr<RabbitConnection>> RabbitConnection::open(const RabbitOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  if (auto opened = impl->open(options); !opened) return opened.error();
  return std::unique_ptr<RabbitConnection>(new RabbitConnection(std::move(impl)));
}

Result<std::uint64_t> RabbitConnection::publish(std::uint16_t channel, const std::string& exchange,
                                                const std::string& routing_key,
                                                const rabbit::Properties& properties,
                                                std::string_view body) {
  return impl_->publish(channel, exchange, routing_key, properties, body);
}
Result<std::optional<rabbit::Event>> RabbitConnection::next() { return impl_->next(); }
void RabbitConnection::gather(bool on) { impl_->gather(on); }
int RabbitConnection::socket() const { return impl_->socket(); }

}  // namespace tarry::relay
