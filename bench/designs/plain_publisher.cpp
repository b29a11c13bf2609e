#ifdef TARRY_WITH_RABBITMQ

#include "designs/plain_publisher.h"

#include <amqp_tcp_socket.h>

#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr amqp_channel_t kChannel = 1;
constexpr int kFrameMax = 131'072;

amqp_bytes_t view(std::string_view text) {
  return {text.size(), const_cast<char*>(text.data())};  // the library only reads it
}

void must_be_well(amqp_connection_state_t state, std::string_view what) {
  must(amqp_get_rpc_reply(state).reply_type == AMQP_RESPONSE_NORMAL, what);
}

}  // namespace

PlainPublisher::PlainPublisher(std::uint16_t port) : state_(amqp_new_connection()) {
  amqp_socket_t* const socket = amqp_tcp_socket_new(state_);
  must(amqp_socket_open(socket, "127.0.0.1", port) == AMQP_STATUS_OK, "RabbitMQ is there");
  const amqp_rpc_reply_t entered =
      amqp_login(state_, "/", 0, kFrameMax, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
  must(entered.reply_type == AMQP_RESPONSE_NORMAL, "RabbitMQ lets us in");
  amqp_channel_open(state_, kChannel);
  must_be_well(state_, "a channel is open");
  amqp_confirm_select(state_, kChannel);
  must_be_well(state_, "the channel confirms");
}

PlainPublisher::~PlainPublisher() { amqp_destroy_connection(state_); }

void PlainPublisher::make_queue(const std::string& queue) {
  amqp_queue_declare(state_, kChannel, view(queue), 0, 1, 0, 0, amqp_empty_table);
  must_be_well(state_, "the queue is declared");
}

std::uint64_t PlainPublisher::remove_queue(const std::string& queue) {
  const auto* const gone = amqp_queue_delete(state_, kChannel, view(queue), 0, 0);
  must(gone != nullptr, "the queue is deleted");
  return gone->message_count;
}

void PlainPublisher::publish(const std::string& queue, std::uint64_t id, std::string_view body) {
  const std::string name = std::to_string(id);
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
  properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
  properties.message_id = view(name);
  const int status = amqp_basic_publish(state_, kChannel, amqp_empty_bytes, view(queue), 1, 0,
                                        &properties, view(body));
  must(status == AMQP_STATUS_OK, "RabbitMQ takes a message");
  ++sent_;
}

void PlainPublisher::wait_until_unconfirmed(std::uint64_t most) {
  while (unconfirmed() > most) take_a_frame();
}

void PlainPublisher::take_a_frame() {
  amqp_maybe_release_buffers(state_);
  amqp_frame_t frame;
  must(amqp_simple_wait_frame(state_, &frame) == AMQP_STATUS_OK, "RabbitMQ answers");
  must(frame.frame_type == AMQP_FRAME_METHOD && frame.payload.method.id == AMQP_BASIC_ACK_METHOD,
       "RabbitMQ confirms");
  const auto* const ack = static_cast<amqp_basic_ack_t*>(frame.payload.method.decoded);
  if (ack->multiple) {
    confirmed_ = ack->delivery_tag;
  } else {
    ++confirmed_;
  }
}

}  // namespace tarry::bench

#endif
