#ifdef TARRY_WITH_RABBITMQ

#include "designs/plain_publisher.h"

#include "harness/must.h"

namespace tarry::bench {

PlainPublisher::PlainPublisher(std::uint16_t port) : state_(connected_to_rabbit(port)) {
  amqp_confirm_select(state_, kRabbitChannel);
  must_be_well(state_, "the channel confirms");
}

PlainPublisher::~PlainPublisher() { amqp_destroy_connection(state_); }

void PlainPublisher::make_queue(const std::string& queue) {
  amqp_queue_declare(state_, kRabbitChannel, amqp_view(queue), 0, 1, 0, 0, amqp_empty_table);
  must_be_well(state_, "the queue is declared");
}

std::uint64_t PlainPublisher::remove_queue(const std::string& queue) {
  const auto* const gone = amqp_queue_delete(state_, kRabbitChannel, amqp_view(queue), 0, 0);
  must(gone != nullptr, "the queue is deleted");
  return gone->message_count;
}

void PlainPublisher::publish(const std::string& queue, std::uint64_t id, std::string_view body) {
  const std::string name = std::to_string(id);
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
  properties.delivery_mode = AMQP_DELIVERY_PERSISTENT;
  properties.message_id = amqp_view(name);
  const int status = amqp_basic_publish(state_, kRabbitChannel, amqp_empty_bytes, amqp_view(queue),
                                        1, 0, &properties, amqp_view(body));
  must(status == AMQP_STATUS_OK, "RabbitMQ takes a message");
  unconfirmed_.add();
}

void PlainPublisher::wait_until_unconfirmed(std::uint64_t most) {
  while (unconfirmed() > most) unconfirmed_.take(state_);
}

}  // namespace tarry::bench

#endif
