// GetQueueAttributes and SetQueueAttributes.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "server/sqs/operations/operations.h"
#include "server/sqs/protocol/reader.h"
#include "server/sqs/queues/fifo.h"
#include "server/sqs/queues/queue_attributes.h"
#include "server/sqs/queues/queue_info.h"
#include "server/sqs/queues/redrive.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

Step show_attributes(const CallPtr& call, const QueueInfo& queue) {
  Reader params(call->params);
  const json::array* asked = params.array("AttributeNames");
  if (params.fault()) return *params.fault();
  const auto known = attribute_names();
  std::vector<std::string_view> names;
  for (const json::value& value : asked != nullptr ? *asked : json::array()) {
    const json::string* name = value.if_string();
    if (name == nullptr) return Fault{Kind::malformed, "AttributeNames is not a list of strings."};
    if (*name == "All") {
      names = known;
      break;
    }
    const auto found = std::ranges::find(known, std::string_view(*name));
    if (found == known.end()) {
      return Fault{Kind::invalid_attribute_name, "Unknown Attribute " + base::quoted(*name) + "."};
    }
    names.push_back(*found);
  }
  json::object attributes;
  for (const std::string_view name : names) {
    if (auto value = attribute_of(*call, queue, name)) attributes[name] = *std::move(value);
  }
  Fields fields;
  if (!attributes.empty()) fields["Attributes"] = std::move(attributes);
  return fields;
}

Step change_attributes(const CallPtr& call, const QueueInfo& queue, const GivenAttributes& given) {
  QueueRecord record = queue.record;
  put(given, record);
  record.modified_s =
      std::chrono::floor<std::chrono::seconds>(call->service.now().time_since_epoch()).count();
  core::ConfigureRequest configure{queue.name, patch_of(given, is_fifo(record), false)};
  return ask_for<core::PushReply>(
      write_record(queue.name, record),
      [call, configure = std::move(configure),
       target = given.dead_letter_queue.value_or("")](core::PushReply& pushed) mutable -> Step {
        const std::string name = configure.queue;
        call->service.queues->forget(name);
        if (pushed.items.size() == 1 && pushed.items.front().error) {
          return fault_of(*pushed.items.front().error);
        }
        return ask_for<core::ConfigureReply>(
            std::move(configure), [call, name, target](const core::ConfigureReply&) -> Step {
              return note_source(call, target, name, []() -> Step { return Fields(); });
            });
      });
}

}  // namespace

Step get_queue_attributes(const CallPtr& call) {
  return on_queue(
      call, identity::Scope::read,
      [call](const QueueInfoPtr& queue) -> Step {
        if (queue->record.sources.empty()) return show_attributes(call, *queue);
        // Dead messages count for the dead-letter queue, wherever they are.
        return bring_dead(call, queue, [call, name = queue->name]() -> Step {
          return with_queue(
              call, name,
              [call](const QueueInfoPtr& now) -> Step { return show_attributes(call, *now); },
              Fresh::yes);
        });
      },
      Fresh::yes);
}

Step set_queue_attributes(const CallPtr& call) {
  return on_queue(
      call, identity::Scope::admin,
      [call](const QueueInfoPtr& queue) -> Step {
        Reader params(call->params);
        const json::object* attributes = params.object("Attributes");
        if (params.fault()) return *params.fault();
        if (attributes == nullptr || attributes->empty()) return missing("Attributes");
        GivenAttributes given;
        if (auto fault = read_attributes(*attributes, !call->service.strict, given)) {
          return *std::move(fault);
        }
        const bool fifo = is_fifo(queue->record);
        if (auto fault = check_type(given, fifo, false, !call->service.strict)) {
          return *std::move(fault);
        }
        std::string target = given.dead_letter_queue.value_or("");
        return check_target(call, std::move(target), fifo, [call, queue, given = std::move(given)] {
          return change_attributes(call, *queue, given);
        });
      },
      Fresh::yes);
}

}  // namespace tarry::sqs
