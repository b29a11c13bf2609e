#include "designs/rabbit_connection.h"

#ifdef TARRY_WITH_RABBITMQ

#if __has_include(<rabbitmq-c/tcp_socket.h>)
#include <rabbitmq-c/tcp_socket.h>
#else
#include <amqp_tcp_socket.h>
#endif

#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr int kRabbitFrameMax = 131'072;

}  // namespace

amqp_connection_state_t connected_to_rabbit(std::uint16_t port) {
  amqp_connection_state_t state = amqp_new_connection();
  amqp_socket_t* const socket = amqp_tcp_socket_new(state);
  must(amqp_socket_open(socket, "127.0.0.1", port) == AMQP_STATUS_OK, "RabbitMQ is there");
  const amqp_rpc_reply_t entered =
      amqp_login(state, "/", 0, kRabbitFrameMax, 0, AMQP_SASL_METHOD_PLAIN, "guest", "guest");
  must(entered.reply_type == AMQP_RESPONSE_NORMAL, "RabbitMQ lets us in");
  amqp_channel_open(state, kRabbitChannel);
  must_be_well(state, "a channel is open");
  return state;
}

void must_be_well(amqp_connection_state_t state, std::string_view what) {
  must(amqp_get_rpc_reply(state).reply_type == AMQP_RESPONSE_NORMAL, what);
}

void Unconfirmed::take(amqp_connection_state_t state) {
  amqp_maybe_release_buffers(state);
  amqp_frame_t frame;
  must(amqp_simple_wait_frame(state, &frame) == AMQP_STATUS_OK, "RabbitMQ answers");
  must(frame.frame_type == AMQP_FRAME_METHOD && frame.payload.method.id == AMQP_BASIC_ACK_METHOD,
       "RabbitMQ confirms");
  const auto* const ack = static_cast<amqp_basic_ack_t*>(frame.payload.method.decoded);
  const auto behind = open_.upper_bound(ack->delivery_tag);
  open_.erase(ack->multiple ? open_.begin() : open_.lower_bound(ack->delivery_tag), behind);
}

}  // namespace tarry::bench

#endif
