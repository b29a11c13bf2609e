// The attributes of queues: SQS's names, limits and defaults, and the settings of tarry that they
// become.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <tarry/settings.h>

#include "server/sqs/protocol/fault.h"
#include "server/sqs/queues/queue_info.h"

namespace tarry::sqs {

/// How long a deduplication id is known after its message has ended.
inline constexpr Millis kDeduplicated{300'000};

/// Attributes as a client sets them, checked.
struct GivenAttributes {
  Texts texts;
  std::optional<std::string> dead_letter_queue;  // of RedrivePolicy; empty text: none any more
};

/// `beyond_aws`: delays over 900 s. fifo.h checks what the queue's type permits.
[[nodiscard]] MaybeFault read_attributes(const boost::json::object& from, bool beyond_aws,
                                         GivenAttributes& given);

/// The settings of tarry that these attributes change. `is_new`: of a queue that is made now, whose
/// other settings are those of SQS.
[[nodiscard]] SettingsPatch patch_of(const GivenAttributes& given, bool fifo, bool is_new);

/// Puts the attributes into the record. An attribute that is empty goes back to its default.
void put(const GivenAttributes& given, QueueRecord& record);

/// The value of one attribute that a client may set; nothing if the queue has none.
[[nodiscard]] std::optional<std::string> value_of(const QueueInfo& queue, std::string_view name);
/// The names of all attributes that `attribute_of` knows.
[[nodiscard]] std::vector<std::string_view> attribute_names();
/// Any attribute, counts included.
[[nodiscard]] std::optional<std::string> attribute_of(const Call& call, const QueueInfo& queue,
                                                      std::string_view name);

/// Whether a message with the deduplication id of an earlier one is not accepted again.
[[nodiscard]] bool deduplicates(const QueueInfo& queue);
[[nodiscard]] std::int64_t number_of(const QueueInfo& queue, std::string_view name);
/// The dead-letter queue that the queue's RedrivePolicy names; empty: none.
[[nodiscard]] std::string dead_letter_queue_of(const QueueRecord& record);

}  // namespace tarry::sqs
