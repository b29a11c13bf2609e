// The RabbitMQ broker on which the suite's stores live: one a process, started when a store is
// first asked for.
#pragma once

#include <string>

namespace tarry::contract {

/// "amqp://127.0.0.1:PORT/".
[[nodiscard]] std::string rabbit_url();

/// A store is about to use this queue. AMQP cannot list queues, so `clear_rabbit` goes by these
/// names. Thread safe.
void note_rabbit_queue(const std::string& queue);

/// Deletes the noted queues, and empties the ladder. Throws if the broker does not answer.
void clear_rabbit();

}  // namespace tarry::contract
