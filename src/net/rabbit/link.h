// RabbitLink: one connection to a RabbitMQ broker, logged in, for code that speaks AMQP over it.
// The file also has shared helpers for rabbitmq-c.
//
// Thread safety: none. `open` and `open_channel` block for as long as the address's time-outs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "net/rabbit/address.h"
#include "net/rabbit/library.h"

namespace tarry::net::rabbit {

/// A view of `text` for the library, which only reads it.
[[nodiscard]] amqp_bytes_t amqp_view(std::string_view text) noexcept;
[[nodiscard]] std::string_view view_of(amqp_bytes_t bytes) noexcept;
/// "NOT_FOUND - no exchange 'x' in vhost '/'": one line, whatever the broker sent.
[[nodiscard]] std::string in_one_line(amqp_bytes_t bytes);

[[nodiscard]] amqp_table_entry_t text_entry(std::string_view name, std::string_view value) noexcept;
[[nodiscard]] amqp_table_entry_t number_entry(std::string_view name, std::int64_t value) noexcept;

class RabbitLink {
 public:
  explicit RabbitLink(const RabbitAddress& address);
  ~RabbitLink();
  RabbitLink(const RabbitLink&) = delete;
  RabbitLink& operator=(const RabbitLink&) = delete;

  /// Errors, here and below: `permission_denied`, `not_found` or `conflict` if the broker said so,
  /// otherwise `unavailable`. They contain the broker's own words if it sent any.
  [[nodiscard]] Result<void> open(const RabbitAddress& address);
  [[nodiscard]] Result<void> open_channel(std::uint16_t channel, bool confirms);
  /// The broker's answer to the last library call that waited for an answer.
  [[nodiscard]] Result<void> answered() const;

  /// An `unavailable` error with the broker's name.
  [[nodiscard]] Error failure(const std::string& reason) const;
  [[nodiscard]] Error failure(int status) const;

  /// The next frame, if one has come.
  [[nodiscard]] Result<bool> next(amqp_frame_t& frame);

  /// Closes the connection, so that the broker does not log it as a failure; waits that long at
  /// most for the broker's answer. Nothing can be sent any more.
  void say_goodbye(std::chrono::milliseconds patience);

  [[nodiscard]] amqp_connection_state_t state() const noexcept { return state_; }
  [[nodiscard]] int socket() const noexcept;
  /// How many bytes the encoded properties of a message may have, because they must fit into one
  /// frame. With more, the connection ends, since half of the message has been sent by then.
  [[nodiscard]] std::size_t properties_room() const noexcept;

 private:
  [[nodiscard]] Result<void> answered_with(const amqp_rpc_reply_t& reply) const;
  [[nodiscard]] Result<amqp_socket_t*> tls_socket(const RabbitTls& tls);
  void limit_sending(std::int64_t ms) const;

  const std::string title_;
  amqp_connection_state_t state_;
};

}  // namespace tarry::net::rabbit
