#include "designs/rabbitmq/rabbit_client.h"

#ifdef TARRY_WITH_RABBITMQ

#include <sys/time.h>

#include <algorithm>
#include <array>

#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::uint16_t kPrefetch = 200;

amqp_table_entry_t text_entry(std::string_view key, std::string_view value) {
  amqp_table_entry_t entry{};
  entry.key = amqp_view(key);
  entry.value.kind = AMQP_FIELD_KIND_UTF8;
  entry.value.value.bytes = amqp_view(value);
  return entry;
}

}  // namespace

std::int64_t delay_until(std::int64_t due_ms) {
  return std::max<std::int64_t>(0, due_ms - now_ms());
}

RabbitClient::RabbitClient(const Place& place, Role role)
    : state_(connected_to_rabbit(place.rabbit_port)), role_(role) {
  if (role_ == Role::consumer) return;
  amqp_confirm_select(state_, kRabbitChannel);
  must_be_well(state_, "the channel confirms");
}

RabbitClient::~RabbitClient() {
  amqp_connection_close(state_, AMQP_REPLY_SUCCESS);
  amqp_destroy_connection(state_);
}

void RabbitClient::make_queue(std::string_view name, std::int64_t ttl_ms,
                              std::string_view dead_exchange, std::string_view dead_key) {
  std::array<amqp_table_entry_t, 3> entries{};
  int count = 0;
  if (!dead_key.empty() || !dead_exchange.empty()) {
    entries[static_cast<std::size_t>(count++)] =
        text_entry("x-dead-letter-exchange", dead_exchange);
  }
  if (!dead_key.empty()) {
    entries[static_cast<std::size_t>(count++)] = text_entry("x-dead-letter-routing-key", dead_key);
  }
  if (ttl_ms >= 0) {
    amqp_table_entry_t& ttl = entries[static_cast<std::size_t>(count++)];
    ttl.key = amqp_view("x-message-ttl");
    ttl.value.kind = AMQP_FIELD_KIND_I64;
    ttl.value.value.i64 = ttl_ms;
  }
  amqp_queue_declare(state_, kRabbitChannel, amqp_view(name), 0, 1, 0, 0, {count, entries.data()});
  must_be_well(state_, "a queue is declared: " + std::string(name));
  amqp_queue_purge(state_, kRabbitChannel, amqp_view(name));
  must_be_well(state_, "a queue is emptied: " + std::string(name));
}

void RabbitClient::publish(std::string_view exchange, std::string_view key, std::string_view body,
                           std::int64_t ttl_ms) {
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG;
  properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
  const std::string ttl = std::to_string(ttl_ms);
  if (ttl_ms >= 0) {
    properties._flags |= AMQP_BASIC_EXPIRATION_FLAG;
    properties.expiration = amqp_view(ttl);
  }
  must(amqp_basic_publish(state_, kRabbitChannel, amqp_view(exchange), amqp_view(key), 0, 0,
                          &properties, amqp_view(body)) == AMQP_STATUS_OK,
       "RabbitMQ takes a message");
  unconfirmed_.add();
  ++requests_;
}

void RabbitClient::wait_for_confirms() {
  while (unconfirmed_.count() > 0) unconfirmed_.take(state_);
}

void RabbitClient::begin_consuming() {
  amqp_basic_qos(state_, kRabbitChannel, 0, kPrefetch, 0);
  must_be_well(state_, "a prefetch is set");
  amqp_basic_consume(state_, kRabbitChannel, amqp_view(kReady), amqp_empty_bytes, 0, 0, 0,
                     amqp_empty_table);
  must_be_well(state_, "the ready queue is consumed");
  consuming_ = true;
}

std::unique_ptr<Claimed> RabbitClient::await(std::size_t max, std::int64_t most_ms) {
  must(role_ == Role::consumer, "a consumer claims");
  if (!consuming_) begin_consuming();
  auto taken = std::make_unique<Taken>();
  timeval wait{most_ms / 1'000, most_ms % 1'000 * 1'000};
  while (taken->size() < max) {
    amqp_envelope_t envelope;
    amqp_maybe_release_buffers(state_);
    const amqp_rpc_reply_t reply = amqp_consume_message(state_, &envelope, &wait, 0);
    if (reply.reply_type != AMQP_RESPONSE_NORMAL) {
      must(reply.reply_type == AMQP_RESPONSE_LIBRARY_EXCEPTION &&
               reply.library_error == AMQP_STATUS_TIMEOUT,
           "RabbitMQ delivers");
      break;
    }
    taken->payloads.emplace_back(static_cast<const char*>(envelope.message.body.bytes),
                                 envelope.message.body.len);
    // Acks all messages up to this one at once.
    taken->tokens = {std::to_string(envelope.delivery_tag)};
    amqp_destroy_envelope(&envelope);
    wait = {0, 0};
  }
  return taken;
}

void RabbitClient::settle(const Claimed& claimed) {
  const std::uint64_t tag = std::stoull(static_cast<const Taken&>(claimed).tokens.at(0));
  must(amqp_basic_ack(state_, kRabbitChannel, tag, 1) == AMQP_STATUS_OK, "an ack is sent");
  ++requests_;
}

}  // namespace tarry::bench

#endif
