// TagQueue, UntagQueue and ListQueueTags.
#include <string>
#include <utility>

#include "server/sqs/operations/operations.h"
#include "server/sqs/protocol/reader.h"
#include "server/sqs/queues/queue_info.h"
#include "server/sqs/queues/tags.h"

namespace tarry::sqs {
namespace {

Step keep_record(const CallPtr& call, const std::string& queue, const QueueRecord& record) {
  return ask_for<core::PushReply>(write_record(queue, record),
                                  [call, queue](core::PushReply& pushed) -> Step {
                                    call->service.queues->forget(queue);
                                    if (pushed.items.size() == 1 && pushed.items.front().error) {
                                      return fault_of(*pushed.items.front().error);
                                    }
                                    return Fields();
                                  });
}

}  // namespace

Step tag_queue(const CallPtr& call) {
  return on_queue(
      call, identity::Scope::admin,
      [call](const QueueInfoPtr& queue) -> Step {
        Reader params(call->params);
        const boost::json::object* tags = params.object("Tags");
        if (params.fault()) return *params.fault();
        if (tags == nullptr) return missing("Tags");
        QueueRecord record = queue->record;
        if (auto fault = read_tags(*tags, record.tags)) return *std::move(fault);
        return keep_record(call, queue->name, record);
      },
      Fresh::yes);
}

Step untag_queue(const CallPtr& call) {
  return on_queue(
      call, identity::Scope::admin,
      [call](const QueueInfoPtr& queue) -> Step {
        Reader params(call->params);
        const boost::json::array* keys = params.array("TagKeys");
        if (params.fault()) return *params.fault();
        if (keys == nullptr) return missing("TagKeys");
        QueueRecord record = queue->record;
        for (const boost::json::value& key : *keys) {
          const boost::json::string* text = key.if_string();
          if (text != nullptr) record.tags.erase(std::string(*text));
        }
        return keep_record(call, queue->name, record);
      },
      Fresh::yes);
}

Step list_queue_tags(const CallPtr& call) {
  return on_queue(
      call, identity::Scope::read,
      [](const QueueInfoPtr& queue) -> Step {
        Fields fields;
        if (queue->record.tags.empty()) return fields;
        boost::json::object tags;
        for (const auto& [key, value] : queue->record.tags) tags[key] = value;
        fields["Tags"] = std::move(tags);
        return fields;
      },
      Fresh::yes);
}

}  // namespace tarry::sqs
