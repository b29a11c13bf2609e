// Properties: everything that AMQP says about a message besides its body. For a message to be
// published: its properties and headers. For an arrived message: the same as a message's headers,
// so that nothing is lost while it waits.
//
// In a message's headers
//   amqp-exchange, amqp-routing-key   where it was published
//   amqp-content-type, amqp-message-id, amqp-delivery-mode, ...   a property each, as text
//   NAME                              a header of its own that is text
//   amqp-headers                      the other headers: an AMQP table, in base64
//
// Any message with such headers is published with these properties, wherever it came from. CC and
// BCC are routing, not properties: RabbitMQ also publishes the message by the keys that they list,
// and closes the channel if one is not a list. The publisher decides what becomes of them.
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

  /// Before `finish`; the name outlives this.
  void add(std::string_view name, std::string value);
  void add(std::string_view name, std::int64_t value);
  void set_message_id(std::string id);
  /// Takes over the headers. `user`: the publishing user; a broker refuses any other user-id.
  /// Errors: `invalid_argument`, for values that AMQP cannot express, the broker would refuse or
  /// `copies` does not allow.
  [[nodiscard]] Result<void> restore(std::string_view user, Copies copies);
  void finish();
  /// Bytes of everything, encoded.
  [[nodiscard]] std::size_t size() const;
  /// Call it before `finish`. Leaves out headers that `restore` took over, the largest first, until
  /// everything has at most `room` bytes, encoded; tarry-headers-dropped says how many.
  void fit(std::size_t room);

 private:
  struct Sizes {
    std::vector<std::size_t> entries;
    std::size_t total = 0;  // with the other properties
  };
  [[nodiscard]] Sizes sizes() const;
  [[nodiscard]] Result<bool> restore_property(const Header& header, std::string_view user,
                                              Copies copies);
  [[nodiscard]] Result<void> restore_table(std::string_view base64, Copies copies);
  [[nodiscard]] Result<void> restore_entry(amqp_table_entry_t entry, Copies copies);

  const Headers headers_;
  std::deque<std::string> texts_;  // that entries name
  std::vector<amqp_table_entry_t> entries_;
  std::size_t restored_from_ = 0;  // those from there are of `restore`
  amqp_basic_properties_t properties_{};
  std::unique_ptr<amqp_pool_t> pool_;  // of the table; empty: there is none
};

/// For a relay's message: with tarry-queue, tarry-key, tarry-attempt and tarry-due-ms, persistent
/// and with the id as message-id, unless the message's headers say otherwise; then the id is in
/// tarry-id. Errors: as `restore`.
[[nodiscard]] Result<std::unique_ptr<Properties>> properties_of(const Delivery& delivery,
                                                                std::string_view user,
                                                                Copies copies);

/// For a message that came with such headers and is set aside: as it came, but persistent and
/// without an expiration; tarry-reason (255 bytes at most), tarry-exchange, tarry-routing-key and
/// tarry-expiration say the rest, and tarry-CC and tarry-BCC if copies were to be sent. Its own
/// headers that do not fit besides these into `room` bytes (at least 4,000) are left out;
/// tarry-headers-dropped says how many.
[[nodiscard]] std::unique_ptr<Properties> properties_of_refused(const Headers& headers,
                                                                std::string_view reason,
                                                                std::size_t room);

/// The message's id as `properties_of` wrote it; empty: none.
[[nodiscard]] std::string id_of(const amqp_basic_properties_t& properties);

/// The headers of an arrived message. Its headers tarry-... are left out: they are another relay's.
[[nodiscard]] Headers headers_of(const amqp_basic_properties_t& properties,
                                 std::string_view exchange, std::string_view routing_key);

}  // namespace tarry::relay::rabbit
