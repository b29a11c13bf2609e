#include "server/sqs/queues/redrive.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/text/text.h"
#include "server/sqs/queues/fifo.h"
#include "server/sqs/queues/move_messages.h"
#include "server/sqs/queues/queue_attributes.h"
#include "server/sqs/queues/queue_info.h"

namespace tarry::sqs {
namespace {

/// Looks at the noted sources one after the other: they may have another policy by now.
struct Sources {
  CallPtr call;
  QueueInfoPtr queue;
  base::UniqueFunction<Step(std::vector<std::string>)> next;
  std::size_t looked_at = 0;
  std::vector<std::string> found = {};
};

Step next_source(const std::shared_ptr<Sources>& sources) {
  const auto& noted = sources->queue->record.sources;
  if (sources->looked_at == noted.size()) return sources->next(std::move(sources->found));
  return with_info(
      sources->call, noted[sources->looked_at++], [sources](const QueueInfoPtr& source) -> Step {
        if (source->exists && dead_letter_queue_of(source->record) == sources->queue->name) {
          sources->found.push_back(source->name);
        }
        return next_source(sources);
      });
}

struct Bringing {
  CallPtr call;
  std::string to;
  std::vector<std::string> from;
  Next next;
};

Step bring_from(const std::shared_ptr<Bringing>& bringing) {
  if (bringing->from.empty()) return bringing->next();
  Moving moving;
  moving.from = std::move(bringing->from.back());
  bringing->from.pop_back();
  moving.to = bringing->to;
  return move_messages(bringing->call, std::move(moving),
                       [bringing](std::size_t, bool) -> Step { return bring_from(bringing); });
}

}  // namespace

Step check_target(const CallPtr& call, std::string target, bool fifo, Next next) {
  if (target.empty()) return next();
  return with_info(
      call, target,
      [fifo, next = std::move(next)](const QueueInfoPtr& queue) mutable -> Step {
        if (queue->exists && is_fifo(queue->record) == fifo) return next();
        if (queue->exists) {
          return invalid_value(
              "Value for parameter RedrivePolicy is invalid. Reason: Dead-letter queue must be "
              "same type of queue as the source.");
        }
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

Step with_sources(const CallPtr& call, const QueueInfoPtr& queue,
                  base::UniqueFunction<Step(std::vector<std::string>)> next) {
  return next_source(std::make_shared<Sources>(Sources{call, queue, std::move(next)}));
}

Step bring_dead(const CallPtr& call, const QueueInfoPtr& queue, Next next) {
  if (queue->record.sources.empty()) return next();
  return with_sources(
      call, queue,
      [call, queue, next = std::move(next)](std::vector<std::string> names) mutable -> Step {
        return bring_from(std::make_shared<Bringing>(
            Bringing{call, queue->name, std::move(names), std::move(next)}));
      });
}

}  // namespace tarry::sqs
