// Names of the engine's exchanges and queues in the broker. The version in them changes when their
// arguments change, or the form of the messages.
//
//   tarry.v1.100ms.rung.07   a rung: an exchange, and the queue in which messages wait
//   tarry.v1.ready           the exchange at the foot of every ladder
//   tarry.v1.queue.NAME      due messages of a queue
//   tarry.v1.dead.NAME       its dead messages
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tarry::rabbitmq {

inline constexpr std::string_view kReadyExchange = "tarry.v1.ready";

[[nodiscard]] std::string rung_name(std::int64_t base_ms, int rung);
[[nodiscard]] std::string ready_name(std::string_view queue);
[[nodiscard]] std::string dead_name(std::string_view queue);

}  // namespace tarry::rabbitmq
