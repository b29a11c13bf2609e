#include "relay/intakes/rabbit_source.h"

#include <sys/time.h>

#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "net/rabbit/library.h"
#include "net/rabbit/link.h"
#include "relay/intakes/delay.h"
#include "relay/rabbit/properties.h"

namespace tarry::relay {
namespace {

constexpr std::uint16_t kConsuming = 1;
constexpr std::uint16_t kSettingAside = 2;
// The channel for declarations. They have their own, because a failed one closes its channel.
constexpr std::uint16_t kDeclaring = 3;

constexpr time_t kClosingS = 5;

using net::rabbit::amqp_view;
using net::rabbit::view_of;

/// Writes the delay in 32 bits if possible, as the plugin did, because some clients read wider
/// numbers as unsigned.
amqp_table_entry_t served_delay(std::int64_t ms) {
  amqp_table_entry_t entry = net::rabbit::number_entry(kDelayHeader, ms);
  if (ms >= INT32_MIN) {
    entry.value.kind = AMQP_FIELD_KIND_I32;
    entry.value.value.i32 = static_cast<std::int32_t>(ms);
  }
  return entry;
}

}  // namespace

class RabbitSource::Impl {
 public:
  explicit Impl(const RabbitSourceOptions& options) : options_(options), link_(options) {}

  Result<void> open() {
    if (auto opened = link_.open(options_); !opened) return opened;
    if (auto opened = link_.open_channel(kDeclaring, false); !opened) return opened;
    if (auto there = declare_queue(options_.refused); !there) return there;
    if (!options_.exchange.empty()) {
      if (auto bound = declare_and_bind(); !bound) return bound;
    }
    static_cast<void>(amqp_channel_close(link_.state(), kDeclaring, AMQP_REPLY_SUCCESS));
    if (auto opened = link_.open_channel(kSettingAside, true); !opened) return opened;
    if (auto opened = link_.open_channel(kConsuming, false); !opened) return opened;
    amqp_basic_qos(link_.state(), kConsuming, 0, options_.prefetch, 0);
    if (auto set = link_.answered(); !set) return set;
    amqp_basic_consume(link_.state(), kConsuming, amqp_view(options_.queue), amqp_empty_bytes, 0, 0,
                       0, amqp_empty_table);
    return link_.answered();
  }

  Result<std::optional<Event>> next() {
    for (;;) {
      if (!outcomes_.empty()) {
        std::optional<Event> outcome(std::move(outcomes_.front()));
        outcomes_.pop_front();
        return outcome;
      }
      amqp_frame_t frame{};
      const auto came = link_.next(frame);
      if (!came) return came.error();
      if (!*came) return std::optional<Event>();
      if (frame.frame_type == AMQP_FRAME_METHOD) {
        if (const auto taken = take_method(frame.channel, frame.payload.method); !taken)
          return taken.error();
      } else if (frame.channel != kConsuming) {
        continue;  // a part of a returned message, which take_method has handled
      } else if (frame.frame_type == AMQP_FRAME_HEADER) {
        begin(frame.payload.properties.body_size,
              *static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded));
      } else if (frame.frame_type == AMQP_FRAME_BODY) {
        arrival_.payload.append(view_of(frame.payload.body_fragment));
      } else {
        continue;
      }
      if (frame.channel == kConsuming && frame.frame_type != AMQP_FRAME_METHOD &&
          arrival_.payload.size() >= body_size_) {
        return std::optional<Event>(std::exchange(arrival_, {}));
      }
    }
  }

  Result<void> ack(std::uint64_t tag, bool multiple) {
    const int status = amqp_basic_ack(link_.state(), kConsuming, tag, multiple ? 1 : 0);
    if (status != AMQP_STATUS_OK) return link_.failure(status);
    return {};
  }

  Result<void> set_aside(const Arrival& arrival, std::string_view reason) {
    if (const auto able = make_able_to_set_aside(); !able) {
      if (able.error().code == ErrorCode::unavailable) return able;
      outcomes_.emplace_back(NotSetAside{arrival.tag, able.error().message});
      return {};
    }
    const auto properties =
        rabbit::properties_of_refused(arrival.headers, reason, link_.properties_room());
    const int status = amqp_basic_publish(link_.state(), kSettingAside, amqp_empty_bytes,
                                          amqp_view(options_.refused), 1, 0, &properties->get(),
                                          amqp_view(arrival.payload));
    if (status != AMQP_STATUS_OK) return link_.failure(status);
    unconfirmed_.emplace(++published_, arrival.tag);
    return {};
  }

  void close() {
    timeval patience{kClosingS, 0};
    amqp_set_rpc_timeout(link_.state(), &patience);
    // After this handshake the broker has read every ack. If only the socket were closed, unread
    // data could be lost.
    static_cast<void>(amqp_connection_close(link_.state(), AMQP_REPLY_SUCCESS));
  }

  [[nodiscard]] int socket() const { return link_.socket(); }

 private:
  /// Prepares the channel and the queue for refused messages again, after the broker has closed the
  /// channel or the queue was deleted. Errors: `unavailable` if the connection is dead.
  Result<void> make_able_to_set_aside() {
    if (channel_is_closed_) {
      if (auto opened = link_.open_channel(kSettingAside, true); !opened) return opened;
      channel_is_closed_ = false;
      published_ = 0;
    }
    if (!queue_is_gone_) return {};
    if (auto opened = link_.open_channel(kDeclaring, false); !opened) return opened;
    if (auto there = declare_queue(options_.refused); !there) {
      confirm_closing(kDeclaring);
      return there;
    }
    static_cast<void>(amqp_channel_close(link_.state(), kDeclaring, AMQP_REPLY_SUCCESS));
    queue_is_gone_ = false;
    return {};
  }

  void confirm_closing(std::uint16_t channel) {
    amqp_channel_close_ok_t ok{};
    amqp_send_method(link_.state(), channel, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
  }

  /// Creates the queue if it is missing. An existing queue stays as it is, whatever its arguments
  /// are.
  Result<void> declare_queue(const std::string& name) {
    amqp_queue_declare(link_.state(), kDeclaring, amqp_view(name), 1, 0, 0, 0, amqp_empty_table);
    auto there = link_.answered();
    if (there || there.error().code != ErrorCode::not_found) return there;
    // The passive declaration failed, which has closed the channel.
    confirm_closing(kDeclaring);
    if (auto opened = link_.open_channel(kDeclaring, false); !opened) return opened;
    amqp_queue_declare(link_.state(), kDeclaring, amqp_view(name), 0, 1, 0, 0, amqp_empty_table);
    return link_.answered();
  }

  Result<void> declare_and_bind() {
    if (auto there = declare_queue(options_.queue); !there) return there;
    // A fanout exchange accepts every routing key, and keeps it in the message.
    amqp_exchange_declare(link_.state(), kDeclaring, amqp_view(options_.exchange),
                          amqp_cstring_bytes("fanout"), 0, 1, 0, 0, amqp_empty_table);
    if (auto there = link_.answered(); !there) return there;
    amqp_queue_bind(link_.state(), kDeclaring, amqp_view(options_.queue),
                    amqp_view(options_.exchange), amqp_empty_bytes, amqp_empty_table);
    return link_.answered();
  }

  /// Ends the publication with this tag or, if `multiple`, all up to it. An empty `why` means that
  /// the broker has the message.
  void conclude(std::uint64_t published, bool multiple, const std::string& why) {
    auto from = multiple ? unconfirmed_.begin() : unconfirmed_.find(published);
    while (from != unconfirmed_.end() && from->first <= published) {
      if (why.empty()) {
        outcomes_.emplace_back(SetAside{from->second});
      } else {
        outcomes_.emplace_back(NotSetAside{from->second, why});
      }
      from = unconfirmed_.erase(from);
    }
  }

  Result<void> take_method(std::uint16_t channel, const amqp_method_t& method) {
    switch (method.id) {
      case AMQP_BASIC_DELIVER_METHOD: {
        const auto* deliver = static_cast<const amqp_basic_deliver_t*>(method.decoded);
        arrival_ = {};
        arrival_.tag = deliver->delivery_tag;
        arrival_.redelivered = deliver->redelivered != 0;
        exchange_ = view_of(deliver->exchange);
        routing_key_ = view_of(deliver->routing_key);
        return {};
      }
      case AMQP_BASIC_ACK_METHOD: {
        const auto* ack = static_cast<const amqp_basic_ack_t*>(method.decoded);
        conclude(ack->delivery_tag, ack->multiple != 0, {});
        return {};
      }
      case AMQP_BASIC_NACK_METHOD: {
        const auto* nack = static_cast<const amqp_basic_nack_t*>(method.decoded);
        conclude(nack->delivery_tag, nack->multiple != 0, "it takes nothing (nack)");
        return {};
      }
      case AMQP_BASIC_RETURN_METHOD:
        // The broker does not say which message it returns, so all of them count as not set aside.
        // The ack that follows finds no publication.
        queue_is_gone_ = true;
        conclude(published_, true, "it is gone");
        return {};
      case AMQP_BASIC_CANCEL_METHOD:
        outcomes_.emplace_back(Ended{"queue '" + options_.queue + "' is gone"});
        return {};
      case AMQP_CHANNEL_CLOSE_METHOD: {
        const std::string why = net::rabbit::in_one_line(
            static_cast<const amqp_channel_close_t*>(method.decoded)->reply_text);
        if (channel != kSettingAside) return link_.failure(why);
        confirm_closing(kSettingAside);
        channel_is_closed_ = true;
        conclude(published_, true, why);
        return {};
      }
      case AMQP_CONNECTION_CLOSE_METHOD:
        return link_.failure(net::rabbit::in_one_line(
            static_cast<const amqp_connection_close_t*>(method.decoded)->reply_text));
      default: return {};
    }
  }

  /// Reads the header frame. The body frames follow.
  void begin(std::uint64_t body_size, amqp_basic_properties_t properties) {
    body_size_ = body_size;
    std::vector<amqp_table_entry_t> entries;
    if ((properties._flags & AMQP_BASIC_HEADERS_FLAG) != 0) {
      entries.assign(properties.headers.entries,
                     properties.headers.entries + properties.headers.num_entries);
      properties.headers.entries = entries.data();
    }
    set_due(properties);
    if (options_.key_is_message_id && (properties._flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0) {
      arrival_.key = view_of(properties.message_id);
    }
    arrival_.headers = rabbit::headers_of(properties, exchange_, routing_key_);
  }

  /// Sets the arrival's due time. Also marks the delay as served, as the plugin did, so that no
  /// other consumer serves it again.
  void set_due(amqp_basic_properties_t& properties) {
    auto delay = delay_of(properties);
    if (delay && *delay) {
      for (int i = 0; i < properties.headers.num_entries; ++i) {
        amqp_table_entry_t& entry = properties.headers.entries[i];
        if (view_of(entry.key) == kDelayHeader && **delay > 0) {
          entry = served_delay(-**delay);
        }
      }
    } else if (delay && options_.expiration_is_delay) {
      delay = expiration_of(properties);
      if (delay && *delay) properties._flags &= ~amqp_flags_t{AMQP_BASIC_EXPIRATION_FLAG};
    }
    if (!delay) {
      arrival_.fault = delay.error().message;
    } else if (*delay && **delay > 0) {
      arrival_.due = Due::after(Millis(**delay));
    }
  }

  const RabbitSourceOptions options_;
  net::rabbit::RabbitLink link_;
  // Facts of the message that is arriving.
  Arrival arrival_;
  std::string exchange_;
  std::string routing_key_;
  std::uint64_t body_size_ = 0;
  // Messages that are being set aside: the tag of the publication -> the tag of the arrival.
  std::map<std::uint64_t, std::uint64_t> unconfirmed_;
  std::uint64_t published_ = 0;
  std::deque<Event> outcomes_;
  bool channel_is_closed_ = false;
  bool queue_is_gone_ = false;
};

RabbitSource::RabbitSource(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
RabbitSource::~RabbitSource() = default;

Result<std::unique_ptr<RabbitSource>> RabbitSource::open(const RabbitSourceOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  if (auto opened = impl->open(); !opened) return opened.error();
  return std::unique_ptr<RabbitSource>(new RabbitSource(std::move(impl)));
}

Result<std::optional<RabbitSource::Event>> RabbitSource::next() { return impl_->next(); }
Result<void> RabbitSource::ack(std::uint64_t tag, bool multiple) {
  return impl_->ack(tag, multiple);
}
Result<void> RabbitSource::set_aside(const Arrival& arrival, std::string_view reason) {
  return impl_->set_aside(arrival, reason);
}
void RabbitSource::close() { impl_->close(); }
int RabbitSource::socket() const { return impl_->socket(); }

}  // namespace tarry::relay
