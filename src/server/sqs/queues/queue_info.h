// QueueInfo: what an operation needs to know about its queue, and QueueCache, which keeps it for a
// few seconds: AWS says that changed attributes take up to a minute.
//
// Thread safety: the server's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/settings.h>

#include "server/sqs/protocol/call.h"
#include "server/sqs/queues/queue_record.h"

namespace tarry::sqs {

struct QueueInfo {
  std::string name;
  bool exists = false;
  QueueStats stats;  // if it exists
  QueueRecord record;
};
using QueueInfoPtr = std::shared_ptr<const QueueInfo>;

class QueueCache {
 public:
  using Clock = std::chrono::steady_clock;

  /// Null if it is not known, or was learnt too long ago.
  [[nodiscard]] QueueInfoPtr find(std::string_view queue);
  /// Queues that do not exist are not kept.
  void keep(QueueInfoPtr info);
  void forget(std::string_view queue);

 private:
  struct Kept {
    QueueInfoPtr info;
    Clock::time_point until;
  };
  std::map<std::string, Kept, std::less<>> kept_;
};

using WithInfo = base::UniqueFunction<Step(const QueueInfoPtr&)>;

enum class Fresh : std::uint8_t { no, yes };

/// Goes on with what is known about the queue, which may not exist. `yes`: asks the store.
[[nodiscard]] Step with_info(const CallPtr& call, std::string queue, WithInfo next,
                             Fresh fresh = Fresh::no);
/// The same; if the queue does not exist, that is the answer.
[[nodiscard]] Step with_queue(const CallPtr& call, std::string queue, WithInfo next,
                              Fresh fresh = Fresh::no);

/// SQS's rule for names: 1 to 80 letters, digits, - and _; a FIFO queue's name ends in ".fifo".
[[nodiscard]] bool is_queue_name(std::string_view name) noexcept;
/// The name in a queue's URL: its last part. Anything before it is left alone, so the URLs of AWS
/// and of its other stand-ins are understood too.
[[nodiscard]] std::string_view name_in_url(std::string_view url) noexcept;

[[nodiscard]] std::string url_of(const Call& call, std::string_view queue);
[[nodiscard]] std::string arn_of(const Call& call, std::string_view queue);
/// The queue's name in an ARN; empty if it is not one of SQS.
[[nodiscard]] std::string_view name_in_arn(std::string_view arn) noexcept;

/// Reads QueueUrl, checks the scope, and goes on with the queue, which exists.
[[nodiscard]] Step on_queue(const CallPtr& call, identity::Scope scope, WithInfo next,
                            Fresh fresh = Fresh::no);

}  // namespace tarry::sqs
