// Topology: declares the ladder and the queues of a store in a broker.
//
// Each rung has an exchange. If the rung's bit is set in a message's routing key, the exchange
// routes the message into the rung's queue, else to the exchange below. When a message's time in
// the queue is over, the broker dead-letters it to the exchange below, too. The exchange at the
// foot routes the message to the queue that its routing key names.
//
// Thread safety: none. Each call waits for the broker's answers.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

#include "engines/rabbitmq/ladder/broker.h"
#include "engines/rabbitmq/ladder/declarer.h"
#include "engines/rabbitmq/ladder/ladder.h"

namespace tarry::rabbitmq {

/// All or nothing: if one declaration fails, this deletes what it has declared before.
[[nodiscard]] Result<void> declare_ladder(Declarer& declarer, const Ladder& ladder,
                                          const Broker& broker);
/// The queues for due and for dead messages. All or nothing.
[[nodiscard]] Result<void> declare_queue(Declarer& declarer, const std::string& queue,
                                         const Broker& broker);

}  // namespace tarry::rabbitmq
