#include "relay/sinks/rabbitmq/kind.h"

#ifdef TARRY_WITH_RABBITMQ
#include "net/rabbit/library.h"
#include "relay/sinks/rabbitmq/rabbit_sink.h"
#include "relay/sinks/rabbitmq/rabbit_url.h"
#endif

namespace tarry::relay {

SinkKind rabbitmq_kind() {
  SinkKind kind{.name = "rabbitmq",
                .schemes = {"amqp", "amqps"},
                .forms = {"amqp://"},
                .help = "amqp://HOST[/VHOST]?exchange=NAME&routing_key=KEY",
                .absent = "this build cannot talk to RabbitMQ"};
#ifdef TARRY_WITH_RABBITMQ
  kind.library = &net::kRabbitLibrary;
  kind.make = [](const SinkWish& wish) -> MadeSink {
    auto options = rabbit_sink_options(wish.scheme(), wish.rest());
    if (!options) return Unexpected(ErrorCode::invalid_argument, options.error().message);
    return MadeSink(std::make_unique<RabbitSink>(*std::move(options)));
  };
#endif
  return kind;
}

}  // namespace tarry::relay
