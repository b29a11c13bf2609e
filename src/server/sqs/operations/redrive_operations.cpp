// ListDeadLetterSourceQueues, StartMessageMoveTask, ListMessageMoveTasks, CancelMessageMoveTask.
#include <string>
#include <utility>
#include <vector>

#include "base/text/base64.h"
#include "server/sqs/operations/operations.h"
#include "server/sqs/protocol/reader.h"
#include "server/sqs/queues/fifo.h"
#include "server/sqs/queues/move_messages.h"
#include "server/sqs/queues/move_tasks.h"
#include "server/sqs/queues/queue_info.h"
#include "server/sqs/queues/redrive.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostMoved = 100'000;  // in one request; more need another one

std::string handle_of(const MoveTask& task) {
  return base::base64_encode(R"({"sourceArn":")" + task.source_arn + R"(","startedAt":)" +
                             std::to_string(task.started_ms) + "}");
}

/// Reads an ARN of a queue that exists.
Step with_arn(const CallPtr& call, std::string_view arn, WithInfo next) {
  const std::string name(name_in_arn(arn));
  Fault unknown{Kind::not_found,
                "The resource that you specified for the SourceArn parameter "
                "does not exist."};
  if (!is_queue_name(name)) return unknown;
  if (auto refused = check_scope(*call, identity::Scope::admin, name)) return *std::move(refused);
  return with_info(
      call, name,
      [next = std::move(next), unknown](const QueueInfoPtr& queue) mutable -> Step {
        if (!queue->exists) return unknown;
        return next(queue);
      },
      Fresh::yes);
}

Step move_all(const CallPtr& call, const QueueInfo& queue, std::string to, MoveTask task) {
  Moving moving;
  moving.from = queue.name;
  moving.state = State::ready;
  moving.to = std::move(to);
  moving.most = kMostMoved;
  return move_messages(call, std::move(moving),
                       [call, task = std::move(task)](std::size_t moved, bool all) mutable -> Step {
                         task.moved = moved;
                         task.done = all;
                         Fields fields;
                         fields["TaskHandle"] = handle_of(task);
                         call->service.moves->add(std::move(task));
                         return fields;
                       });
}

}  // namespace

Step list_sources(const CallPtr& call) {
  return on_queue(
      call, identity::Scope::read,
      [call](const QueueInfoPtr& queue) -> Step {
        return with_sources(call, queue, [call](std::vector<std::string> names) -> Step {
          json::array urls;
          for (const std::string& name : names) urls.emplace_back(url_of(*call, name));
          Fields fields;
          fields["queueUrls"] = std::move(urls);
          return fields;
        });
      },
      Fresh::yes);
}

Step start_move(const CallPtr& call) {
  Reader params(call->params);
  MoveTask task;
  task.source_arn = params.required("SourceArn");
  task.destination_arn = params.text("DestinationArn").value_or("");
  task.started_ms = call->service.now().time_since_epoch().count();
  if (params.fault()) return *params.fault();
  const std::string source = task.source_arn;
  const std::string to(name_in_arn(task.destination_arn));
  if (!task.destination_arn.empty()) {
    if (!is_queue_name(to)) return invalid_value("The DestinationArn is not one of an SQS queue.");
    if (has_fifo_name(to) != has_fifo_name(name_in_arn(source))) {
      return invalid_value("The DestinationArn is one of another type of queue than the source.");
    }
    if (auto refused = check_scope(*call, identity::Scope::admin, to)) return *std::move(refused);
  }
  return with_arn(call, source, [call, to, task](const QueueInfoPtr& queue) -> Step {
    if (queue->record.sources.empty()) {
      return invalid_value("Source queue must be configured as a Dead Letter Queue.");
    }
    return bring_dead(call, queue, [call, queue, to, task]() -> Step {
      return with_info(
          call, queue->name,
          [call, to, task](const QueueInfoPtr& filled) mutable -> Step {
            task.to_move = filled->stats.ready;
            return move_all(call, *filled, to, std::move(task));
          },
          Fresh::yes);
    });
  });
}

Step list_moves(const CallPtr& call) {
  Reader params(call->params);
  const std::string source(params.required("SourceArn"));
  const auto most = params.number("MaxResults", 1, 10);
  if (params.fault()) return *params.fault();
  return with_arn(call, source, [call, source, most](const QueueInfoPtr&) -> Step {
    json::array results;
    for (const MoveTask& task : call->service.moves->of(source)) {
      if (results.size() == static_cast<std::size_t>(most.value_or(1))) break;
      json::object one;
      one["Status"] = task.done ? "COMPLETED" : "FAILED";
      if (!task.done) one["FailureReason"] = "Messages are left; start another task.";
      one["SourceArn"] = task.source_arn;
      if (!task.destination_arn.empty()) one["DestinationArn"] = task.destination_arn;
      one["ApproximateNumberOfMessagesMoved"] = task.moved;
      one["ApproximateNumberOfMessagesToMove"] = task.to_move;
      one["StartedTimestamp"] = task.started_ms;
      results.emplace_back(std::move(one));
    }
    Fields fields;
    fields["Results"] = std::move(results);
    return fields;
  });
}

Step cancel_move(const CallPtr& call) {
  Reader params(call->params);
  static_cast<void>(params.required("TaskHandle"));
  if (params.fault()) return *params.fault();
  return Fault{Kind::not_found, "The task has ended, or there was none."};
}

}  // namespace tarry::sqs
