// The Kafka sink: produces each message to a topic, with an idempotent producer and acks=all, and
// confirms it once its delivery report has come.
//
// The record's key is the message's key, and selects the partition. Its value is the payload. Its
// headers are the message's own and tarry-id, tarry-queue, tarry-attempt and tarry-due-ms. Within a
// partition records keep the order of `send`.
//
// A message that is too large is refused. The sink is down if no broker can be reached for some
// seconds, the topic does not exist, or writing to it is not allowed. The answer is `unknown` if a
// broker may have the message but librdkafka has not reported it. A producer that is down, or whose
// idempotence is broken (a fatal error), is made again for the next message; the relay's breaker
// limits how often.
//
// It works on a thread of its own, besides those of librdkafka.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "relay/sink.h"
#include "relay/sinks/kafka/kafka_settings.h"

namespace tarry::relay {

/// The sink connects when the first message comes. Errors: those of KafkaProducer::check.
[[nodiscard]] Result<std::unique_ptr<Sink>> kafka_sink(KafkaOptions options);

}  // namespace tarry::relay
