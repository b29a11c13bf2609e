#include "server/sqs/redrive.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "server/sqs/queue_info.h"

namespace tarry::sqs {

Step check_target(const CallPtr& call, std::string target, Next next) {
  if (target.empty()) return next();
  return with_info(
      call, target,
      [next = std::move(next)](const QueueInfoPtr& queue) mutable -> Step {
        if (queue->exists) return next();
        return invalid_value(
            "Value for parameter RedrivePolicy is invalid. Reason: Dead letter "
            "target " +
            base::quoted(queue->name) + " does not exist.");
      },
      Fresh::yes);
}

Step note_source(const CallPtr& call, std::string target, std::string source, Next next) {
  if (target.empty()) return next();
  return with_info(
      call, std::move(target),
      [call, source = std::move(source),
       next = std::move(next)](const QueueInfoPtr& queue) mutable -> Step {
        QueueRecord record = queue->record;
        if (std::ranges::find(record.sources, source) != record.sources.end()) return next();
        record.sources.push_back(std::move(source));
        return ask_for<core::PushReply>(
            write_record(queue->name, record),
            [call, name = queue->name,
             next = std::move(next)](core::PushReply& pushed) mutable -> Step {
              call->service.queues->forget(name);
              if (pushed.items.size() == 1 && pushed.items.front().error) {
                return fault_of(*pushed.items.front().error);
              }
              return next();
            });
      },
      Fresh::yes);
}

}  // namespace tarry::sqs
