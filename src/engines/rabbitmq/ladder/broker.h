// Broker: the version of a RabbitMQ server, and what that version can promise.
//
// Thread safety: pure functions.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::rabbitmq {

/// The type of all queues of a store.
enum class Queues : unsigned char {
  automatic,  // quorum if the broker has at-least-once dead-lettering (3.10), else classic
  quorum,
  classic,
};

struct Broker {
  std::string version;
  bool quorum = false;  // else its queues are classic
};

/// `version` is like "3.10.8". Errors: `unsupported` if it is below 3.8, or below 3.10 and `wanted`
/// is quorum; `unavailable` if it is no version.
[[nodiscard]] Result<Broker> broker_of(std::string_view version, Queues wanted);

}  // namespace tarry::rabbitmq
