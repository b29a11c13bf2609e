// Properties: everything that AMQP says about a message besides its body. For a message to be
// published, this builds its properties and headers. The properties and headers of an arrived
// message become headers of a tarry message, so that nothing is lost while it waits. These are:
//
// - amqp-exchange, amqp-routing-key: where the message was published
// - amqp-content-type, amqp-message-id, amqp-delivery-mode, ...: one for each property, as text
// - NAME: each header whose value is text
// - amqp-headers: all other headers, as an AMQP table in base64
//
// Any message with such headers is published with these properties, wherever it came from. The
// headers CC and BCC are not properties but routing: RabbitMQ also publishes the message by the
// keys that they list, and closes the channel if either is not a list. The publisher decides what
// happens to them.
//
// Thread safety: as a plain value's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/queue.h>
#include <tarry/result.h>

#include "net/rabbit/library.h"

namespace tarry::relay::rabbit {

inline constexpr std::string_view kExchangeHeader = "amqp-exchange";
inline constexpr std::string_view kRoutingKeyHeader = "amqp-routing-key";
inline constexpr std::string_view kExpirationHeader = "amqp-expiration";
inline constexpr std::string_view kTableHeader = "amqp-headers";

/// What to do with the headers CC and BCC.
enum class Copies : std::uint8_t {
  refused,   // an error
  allowed,   // if it is a list; otherwise an error
  set_aside  // kept as tarry-CC and tarry-BCC, which route nothing
};

class Properties {
 public:
  explicit Properties(Headers headers);
  ~Properties();
  Properties(const Properties&) = delete;
  Properties& operator=(const Properties&) = delete;

  [[nodiscard]] const amqp_basic_properties_t& get() const noexcept { return properties_; }

  /// Call `add` before `finish`. `name` must outlive this object.
  void add(std::string_view name, std::string value);
  void add(std::string_view name, std::int64_t value);
  void set_message_id(std::string id);
  /// Adds the properties and headers that the message's headers describe. `user`: the publishing
  /// user, because a broker refuses any other user-id. Error: `invalid_argument` for values that
  /// AMQP cannot express, that the broker would refuse, or that `copies` does not allow.
  [[nodiscard]] Result<void> restore(std::string_view user, Copies copies);
  void finish();
  /// The size of all properties and headers, encoded, in bytes.
  [[nodiscard]] std::size_t size() const;
  /// Call `fit` before `finish`. Drops headers that `restore` added, the largest first, until the
  /// encoded size of everything is at most `room` bytes. The header tarry-headers-dropped then says
  /// how many.
  void fit(std::size_t room);

 private:
  struct Sizes {
    std::vector<std::size_t> entries;
    std::size_t total = 0;  // including the other properties
  };
  [[nodiscard]] Sizes sizes() const;
  [[nodiscard]] Result<bool> restore_property(const Header& header, std::string_view user,
                                              Copies copies);
  [[nodiscard]] Result<void> restore_table(std::string_view base64, Copies copies);
  [[nodiscard]] Result<void> restore_entry(amqp_table_entry_t entry, Copies copies);

  const Headers headers_;
  std::deque<std::string> texts_;  // texts that entries refer to
  std::vector<amqp_table_entry_t> entries_;
  std::size_t restored_from_ = 0;  // entries from this index on were added by `restore`
  amqp_basic_properties_t properties_{};
  std::unique_ptr<amqp_pool_t> pool_;  // memory of the header table; empty: no table
};

/// The properties of a message that a relay publishes: persistent, with the headers tarry-queue,
/// tarry-key, tarry-attempt and tarry-due-ms, and with the id as message-id. The message's own
/// headers may set another delivery mode or message-id; the id is then in tarry-id. Errors: those
/// of `restore`.
[[nodiscard]] Result<std::unique_ptr<Properties>> properties_of(const Delivery& delivery,
                                                                std::string_view user,
                                                                Copies copies);

/// The properties of an arrived message that is set aside. They are those with which it came, but
/// with persistent delivery and without an expiration. Further headers are: tarry-reason (at most
/// 255 bytes), tarry-exchange, tarry-routing-key, tarry-expiration, and tarry-CC and tarry-BCC if
/// it had CC or BCC. Own headers of the message that then do not fit into `room` bytes (at least
/// 4,000) are dropped; tarry-headers-dropped says how many.
[[nodiscard]] std::unique_ptr<Properties> properties_of_refused(const Headers& headers,
                                                                std::string_view reason,
                                                                std::size_t room);

/// The id that `properties_of` wrote; empty if there is none.
[[nodiscard]] std::string id_of(const amqp_basic_properties_t& properties);

/// The headers of an arrived message. Its headers tarry-... are left out, because another relay
/// wrote them.
[[nodiscard]] Headers headers_of(const amqp_basic_properties_t& properties,
                                 std::string_view exchange, std::string_view routing_key);

}  // namespace tarry::relay::rabbit
