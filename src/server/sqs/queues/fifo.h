// FIFO queues of SQS: a queue of tarry with groups that keep the order of pushes, whose keys are
// deduplication ids.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <tarry/settings.h>

#include "server/sqs/protocol/fault.h"
#include "server/sqs/queues/queue_attributes.h"
#include "server/sqs/queues/queue_info.h"

namespace tarry::sqs {

[[nodiscard]] bool is_fifo(const QueueRecord& record);
/// The name of every FIFO queue ends so, and that of no other queue.
[[nodiscard]] bool has_fifo_name(std::string_view queue) noexcept;

/// What CreateQueue is asked for: `true` if it is a FIFO queue. A fault if the name or the store do
/// not fit.
[[nodiscard]] std::variant<bool, Fault> asks_for_fifo(const Call& call, std::string_view queue,
                                                      const GivenAttributes& given);
/// Attributes that the queue's type does not have, or that may not change.
[[nodiscard]] MaybeFault check_type(const GivenAttributes& given, bool fifo, bool is_new,
                                    bool beyond_aws);
/// Adds the settings of a new FIFO queue.
void set_order(SettingsPatch& patch);

/// What a send to a FIFO queue must name, and may not.
[[nodiscard]] MaybeFault check_send(const QueueInfo& queue, std::optional<std::string_view> group,
                                    std::optional<std::string_view> deduplication,
                                    std::optional<std::int64_t> delay);
/// The key by which the queue knows a message again.
[[nodiscard]] std::string deduplication_key(const QueueInfo& queue, std::string_view id,
                                            std::optional<std::string_view> group);
[[nodiscard]] bool is_deduplication_id(std::string_view id) noexcept;

/// Rises with each message that the queue accepts: the store's id, in SQS's 20 digits.
[[nodiscard]] std::string sequence_number(std::uint64_t id);

}  // namespace tarry::sqs
