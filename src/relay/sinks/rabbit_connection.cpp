#include "relay/sinks/rabbit_connection.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <utility>

#include <amqp.h>
#include <amqp_framing.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>

#include "base/text.h"

namespace tarry::relay {
namespace {

constexpr int kFrameMax = 131'072;
constexpr std::uint8_t kPersistent = 2;
constexpr const char* kSystemAuthorities = "/etc/ssl/certs/ca-certificates.crt";

amqp_bytes_t amqp_view(std::string_view text) {
  // The library reads it only.
  return {text.size(), const_cast<char*>(text.data())};
}

std::string text_of(amqp_bytes_t bytes) {
  return {static_cast<const char*>(bytes.bytes), bytes.len};
}

timeval time_value(std::int64_t ms) {
  return {static_cast<time_t>(ms / 1'000), static_cast<suseconds_t>(ms % 1'000 * 1'000)};
}

/// "NOT_FOUND - no exchange 'x' in vhost '/'": one line, whatever the broker sent.
std::string in_one_line(amqp_bytes_t bytes) {
  std::string text = base::quoted(text_of(bytes), 200);
  return text.substr(1, text.size() - 2);
}

std::string why(const amqp_rpc_reply_t& reply) {
  if (reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION) {
    return amqp_error_string2(reply.library_error);
  }
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION) {
    if (reply.reply.id == AMQP_CONNECTION_CLOSE_METHOD) {
      return in_one_line(static_cast<amqp_connection_close_t*>(reply.reply.decoded)->reply_text);
    }
    if (reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
      return in_one_line(static_cast<amqp_channel_close_t*>(reply.reply.decoded)->reply_text);
    }
  }
  return "no answer";
}

amqp_table_entry_t text_entry(std::string_view name, std::string_view value) {
  amqp_table_entry_t entry{};
  entry.key = amqp_view(name);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = amqp_view(value);
  return entry;
}

amqp_table_entry_t number_entry(std::string_view name, std::int64_t value) {
  amqp_table_entry_t entry{};
  entry.key = amqp_view(name);
  entry.value.kind = AMQP_FIELD_KIND_I64;
  entry.value.value.i64 = value;
  return entry;
}

amqp_table_entry_t flag_entry(std::string_view name) {
  amqp_table_entry_t entry{};
  entry.key = amqp_view(name);
  entry.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  entry.value.value.boolean = 1;
  return entry;
}

amqp_table_entry_t table_entry(std::string_view name, amqp_table_t entries) {
  amqp_table_entry_t entry{};
  entry.key = amqp_view(name);
  entry.value.kind = AMQP_FIELD_KIND_TABLE;
  entry.value.value.table = entries;
  return entry;
}

}  // namespace

class RabbitConnection::Impl {
 public:
  explicit Impl(const RabbitOptions& options)
      : title_("rabbitmq " + options.host + ":" + std::to_string(options.port)),
        state_(amqp_new_connection()),
        channels_(std::size_t{options.channels} + 1) {}
  ~Impl() { amqp_destroy_connection(state_); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  Result<void> open(const RabbitOptions& options) {
    amqp_socket_t* socket = nullptr;
    if (options.tls) {
      auto made = tls_socket(*options.tls);
      if (!made) return made.error();
      socket = *made;
    } else {
      socket = amqp_tcp_socket_new(state_);
    }
    if (socket == nullptr) return failure("out of memory");
    timeval patience = time_value(options.connect_timeout_ms);
    amqp_set_handshake_timeout(state_, &patience);
    timeval rpc_patience = time_value(options.confirm_timeout_ms);
    amqp_set_rpc_timeout(state_, &rpc_patience);
    if (const int status =
            amqp_socket_open_noblock(socket, options.host.c_str(), options.port, &patience);
        status != AMQP_STATUS_OK) {
      return failure(amqp_error_string2(status));
    }
    limit_sending(options.confirm_timeout_ms);
    // Without this a broker that runs short of memory or disk stops reading, and does not say so.
    amqp_table_entry_t blocked = flag_entry("connection.blocked");
    amqp_table_entry_t capabilities = table_entry("capabilities", {1, &blocked});
    const amqp_table_t properties{1, &capabilities};
    const auto login = amqp_login_with_properties(
        state_, options.vhost.c_str(), 0, kFrameMax, options.heartbeat_s, &properties,
        AMQP_SASL_METHOD_PLAIN, options.user.c_str(), options.password.c_str());
    if (login.reply_type != AMQP_RESPONSE_NORMAL) return failure(why(login));
    for (std::size_t i = 1; i < channels_.size(); ++i) {
      if (auto opened = open_channel(static_cast<amqp_channel_t>(i)); !opened) return opened;
    }
    return {};
  }

  Result<std::uint64_t> publish(std::uint16_t channel, const std::string& exchange,
                                const std::string& routing_key, const Delivery& delivery) {
    const Headers headers = delivery.headers();
    std::vector<amqp_table_entry_t> entries;
    entries.push_back(text_entry("tarry-queue", delivery.queue()));
    entries.push_back(text_entry("tarry-key", delivery.key()));
    entries.push_back(number_entry("tarry-attempt", delivery.attempt()));
    entries.push_back(number_entry("tarry-due-ms", delivery.due().time_since_epoch().count()));
    for (const Header& header : headers) {
      if (!header.name.starts_with("tarry-")) {
        entries.push_back(text_entry(header.name, header.value));
      }
    }
    const std::string id = std::to_string(delivery.id());
    amqp_basic_properties_t properties{};
    properties._flags =
        AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG | AMQP_BASIC_HEADERS_FLAG;
    properties.delivery_mode = kPersistent;
    properties.message_id = amqp_view(id);
    properties.headers = {static_cast<int>(entries.size()), entries.data()};
    const int status =
        amqp_basic_publish(state_, channel, amqp_view(exchange), amqp_view(routing_key), 1, 0,
                           &properties, amqp_view(delivery.payload()));
    if (status != AMQP_STATUS_OK) return failure(amqp_error_string2(status)).error();
    return ++channels_[channel].published;
  }

  Result<std::optional<rabbit::Event>> next() {
    for (;;) {
      amqp_maybe_release_buffers(state_);
      amqp_frame_t frame{};
      timeval now{};
      const int status = amqp_simple_wait_frame_noblock(state_, &frame, &now);
      if (status == AMQP_STATUS_TIMEOUT) return std::optional<rabbit::Event>();
      if (status != AMQP_STATUS_OK) return failure(amqp_error_string2(status)).error();
      if (frame.channel >= channels_.size()) continue;
      if (frame.frame_type == AMQP_FRAME_HEADER) {
        if (auto returned = take_returned(frame)) return std::optional<rabbit::Event>(*returned);
      } else if (frame.frame_type == AMQP_FRAME_METHOD) {
        auto event = take_method(frame);
        if (!event || *event) return event;
      }
    }
  }

  [[nodiscard]] int socket() const { return amqp_get_sockfd(state_); }

 private:
  struct Channel {
    std::uint64_t published = 0;
    std::optional<std::string> returning;  // why, until the message's properties come
  };

  [[nodiscard]] Result<void> failure(const std::string& reason) const {
    return Error{ErrorCode::unavailable, title_ + ": " + reason};
  }

  Result<amqp_socket_t*> tls_socket(const RabbitTls& tls) {
    amqp_socket_t* socket = amqp_ssl_socket_new(state_);
    if (socket == nullptr) return failure("TLS cannot be set up").error();
    const std::string& ca = tls.ca_file;
    const char* authorities = ca.empty() ? kSystemAuthorities : ca.c_str();
    if (amqp_ssl_socket_set_cacert(socket, authorities) != AMQP_STATUS_OK) {
      return failure("certificates of authorities cannot be read from " + base::quoted(authorities))
          .error();
    }
    if (!tls.certificate_file.empty() &&
        amqp_ssl_socket_set_key(socket, tls.certificate_file.c_str(), tls.key_file.c_str()) !=
            AMQP_STATUS_OK) {
      return failure("certificate " + base::quoted(tls.certificate_file) + " and key " +
                     base::quoted(tls.key_file) + " cannot be used")
          .error();
    }
    amqp_ssl_socket_set_verify_peer(socket, 1);
    amqp_ssl_socket_set_verify_hostname(socket, 1);
    return socket;
  }

  /// A broker that reads no more must not hold a publish for ever.
  void limit_sending(std::int64_t ms) const {
    const auto timeout = static_cast<unsigned>(ms);
    ::setsockopt(socket(), IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout, sizeof timeout);
  }

  Result<void> open_channel(amqp_channel_t channel) {
    amqp_channel_open(state_, channel);
    if (const auto reply = amqp_get_rpc_reply(state_); reply.reply_type != AMQP_RESPONSE_NORMAL) {
      return failure(why(reply));
    }
    amqp_confirm_select(state_, channel);
    if (const auto reply = amqp_get_rpc_reply(state_); reply.reply_type != AMQP_RESPONSE_NORMAL) {
      return failure(why(reply));
    }
    channels_[channel] = {};
    return {};
  }

  std::optional<rabbit::Event> take_returned(const amqp_frame_t& frame) {
    auto& returning = channels_[frame.channel].returning;
    if (!returning || frame.payload.properties.class_id != AMQP_BASIC_CLASS) return std::nullopt;
    const auto* properties =
        static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
    rabbit::Returned returned{frame.channel, {}, *std::exchange(returning, std::nullopt)};
    if ((properties->_flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0) {
      returned.message_id = text_of(properties->message_id);
    }
    return returned;
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
        rabbit::ChannelClosed event{frame.channel, in_one_line(closed->reply_text)};
        amqp_channel_close_ok_t ok{};
        if (const int status =
                amqp_send_method(state_, frame.channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
            status != AMQP_STATUS_OK) {
          return failure(amqp_error_string2(status)).error();
        }
        if (auto opened = open_channel(frame.channel); !opened) return opened.error();
        return Optional(std::move(event));
      }
      case AMQP_CONNECTION_CLOSE_METHOD: {
        const auto* closed = static_cast<const amqp_connection_close_t*>(method.decoded);
        return failure(in_one_line(closed->reply_text)).error();
      }
      case AMQP_CONNECTION_BLOCKED_METHOD: {
        const auto* blocked = static_cast<const amqp_connection_blocked_t*>(method.decoded);
        return Optional(rabbit::Blocked{in_one_line(blocked->reason)});
      }
      case AMQP_CONNECTION_UNBLOCKED_METHOD: return Optional(rabbit::Unblocked{});
      default: return Optional();
    }
  }

  const std::string title_;
  amqp_connection_state_t state_;
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
                                                const Delivery& delivery) {
  return impl_->publish(channel, exchange, routing_key, delivery);
}
Result<std::optional<rabbit::Event>> RabbitConnection::next() { return impl_->next(); }
int RabbitConnection::socket() const { return impl_->socket(); }

}  // namespace tarry::relay
