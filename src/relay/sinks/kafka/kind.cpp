#include "relay/sinks/kafka/kind.h"

#ifdef TARRY_WITH_KAFKA
#include "relay/sinks/kafka/kafka_library.h"
#include "relay/sinks/kafka/kafka_sink.h"
#include "relay/sinks/kafka/kafka_url.h"
#endif

namespace tarry::relay {

SinkKind kafka_kind() {
  SinkKind kind{.name = "kafka",
                .schemes = {"kafka"},
                .forms = {"kafka://"},
                .help = "kafka://HOST[,HOST...]/TOPIC[?config=FILE]",
                .absent = "this build cannot talk to Kafka"};
#ifdef TARRY_WITH_KAFKA
  kind.library = &kKafkaLibrary;
  kind.make = [](const SinkWish& wish) -> MadeSink {
    auto options = kafka_sink_options(wish.rest());
    if (!options) return Unexpected(ErrorCode::invalid_argument, options.error().message);
    return kafka_sink(*std::move(options));
  };
#endif
  return kind;
}

}  // namespace tarry::relay
