// Message: a message of the store as it travels through the broker. Its payload is the body, its id
// is the message-id, and the rest is in headers.
//
//   tarry-queue, tarry-key   texts            tarry-due-ms             its due time, since 1970
//   tarry-attempt            used so far      tarry-max-attempts       0: the default
//   tarry-tallies            "claims run-outs releases buries revives"
//   tarry-headers            the user's, as core/rules/headers.h encodes them
//   tarry-reason             why it is dead
//
// A message that another program published has no such headers. It is due at once.
//
// Thread safety: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/message.h>

#include "net/rabbit/library.h"

namespace tarry::rabbitmq {

struct Message {
  std::uint64_t id = 0;
  std::string queue;
  std::string key;
  std::string payload;
  std::string headers;  // encoded
  std::int64_t due_ms = 0;
  std::uint32_t attempt = 0;
  std::uint32_t max_attempts = 0;
  Tallies tallies = {};
  std::string reason = {};
};

/// The AMQP properties of a message, which must outlive this object.
class MessageProperties {
 public:
  explicit MessageProperties(const Message& message);
  MessageProperties(const MessageProperties&) = delete;
  MessageProperties& operator=(const MessageProperties&) = delete;
  [[nodiscard]] const amqp_basic_properties_t& get() const noexcept { return properties_; }

 private:
  std::string id_;
  std::string tallies_;
  std::vector<amqp_table_entry_t> entries_;
  amqp_basic_properties_t properties_{};
};

struct Arrived {
  Message message;  // without its payload, which arrives later
  std::uint32_t redeliveries = 0;
  bool is_foreign = false;  // another program published it
};
/// `redelivered` is the delivery's flag. Quorum queues count redeliveries; on classic queues the
/// flag counts as one.
[[nodiscard]] Arrived arrived_of(const amqp_basic_properties_t& properties, std::string_view queue,
                                 bool redelivered);

/// The id in the message-id, or 0 if that is none of ours.
[[nodiscard]] std::uint64_t id_of(const amqp_basic_properties_t& properties);

}  // namespace tarry::rabbitmq
