// QueueRecord: what SQS keeps about a queue and tarry's settings have no place for. It is the
// payload of a message in the queue `kRecordsQueue`, whose key is the queue's name; that message is
// due in 100 years, and is read by its key. So every engine keeps records, and a backup has them.
//
// Plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "core/request.h"

namespace tarry::sqs {

/// No SQS client can name it: SQS's names have no colon.
inline constexpr std::string_view kRecordsQueue = "sqs:queues";

using Texts = std::map<std::string, std::string, std::less<>>;

struct QueueRecord {
  Texts attributes;  // those that were set, besides what is in the queue's settings
  Texts tags;
  std::int64_t created_s = 0;
  std::int64_t modified_s = 0;
  std::vector<std::string> sources;  // queues whose dead messages go to this one
};

[[nodiscard]] std::string encode(const QueueRecord& record);
/// Error: `damaged`.
[[nodiscard]] Result<QueueRecord> decode_record(std::string_view text);

/// The requests that read, write and delete a queue's record.
[[nodiscard]] core::GetRequest read_record(std::string_view queue);
[[nodiscard]] core::PushRequest write_record(std::string_view queue, const QueueRecord& record);
[[nodiscard]] core::CancelRequest delete_record(std::string_view queue);

}  // namespace tarry::sqs
