// ReceiveMessage.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text/base64.h"
#include "core/rules/headers.h"
#include "net/md5.h"
#include "server/sqs/operations/operations.h"
#include "server/sqs/protocol/reader.h"
#include "server/sqs/queues/fifo.h"
#include "server/sqs/queues/message_attributes.h"
#include "server/sqs/queues/message_text.h"
#include "server/sqs/queues/queue_attributes.h"
#include "server/sqs/queues/queue_info.h"
#include "server/sqs/queues/redrive.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

constexpr std::int64_t kMostMessages = 10;
constexpr std::int64_t kLongestWait = 20;
constexpr std::int64_t kLongestVisibility = 43'200;
/// Present with the value "base64" on a message whose body another front pushed, and SQS's text
/// cannot hold.
constexpr std::string_view kEncodingAttribute = "tarry.encoding";

struct Wanted {
  std::vector<std::string> system;
  std::vector<std::string> attributes;
  bool in_order = false;  // the queue is FIFO
};

using ThenClaimed = base::UniqueFunction<Step(const core::ClaimReply&)>;

std::vector<std::string> texts_in(const json::array* list, Reader& params) {
  std::vector<std::string> texts;
  for (const json::value& value : list != nullptr ? *list : json::array()) {
    if (const json::string* text = value.if_string()) {
      texts.emplace_back(*text);
    } else {
      params.fail({Kind::malformed, "A name in a list of attributes is not a string."});
    }
  }
  return texts;
}

const std::string* header_of(const Headers& headers, std::string_view name) {
  const auto found = std::ranges::find(headers, name, &Header::name);
  return found == headers.end() ? nullptr : &found->value;
}

json::object system_attributes(const Call& call, const core::ClaimedItem& item,
                               const Headers& headers, const Wanted& wanted) {
  json::object fields;
  const auto add = [&](std::string_view name, std::string value) {
    if (is_asked_for(wanted.system, name)) fields[name] = std::move(value);
  };
  const auto add_header = [&](std::string_view name, std::string_view header) {
    if (const std::string* value = header_of(headers, header)) add(name, *value);
  };
  const std::string* sent = header_of(headers, kSentHeader);
  add("SentTimestamp", sent != nullptr ? *sent : std::to_string(item.due_ms));
  const std::string* sender = header_of(headers, kSenderHeader);
  add("SenderId", sender != nullptr ? *sender : "anonymous");
  add("ApproximateReceiveCount", std::to_string(std::max(item.tallies.claims, 1u)));
  add("ApproximateFirstReceiveTimestamp", std::to_string(item.claimed_ms));
  add_header("AWSTraceHeader", kTraceHeader);
  add_header("MessageGroupId", kGroupHeader);
  add_header("MessageDeduplicationId", kDeduplicationHeader);
  if (wanted.in_order) add("SequenceNumber", sequence_number(item.id));
  if (const std::string* source = header_of(headers, kSourceHeader)) {
    add("DeadLetterQueueSourceArn", arn_of(call, *source));
  }
  return fields;
}

json::object message_of(const Call& call, const core::ClaimReply& reply,
                        const core::ClaimedItem& item, const Wanted& wanted) {
  // Damaged headers cannot come: the store checks a message before it hands it out.
  const Headers headers =
      core::decode_headers(core::view(reply.bytes, item.headers)).value_or(Headers());
  MessageAttributes attributes = attributes_in(headers, core::view(reply.bytes, item.key));
  std::string body(core::view(reply.bytes, item.payload));
  const bool is_text = is_message_text(body);
  if (!is_text) {
    body = base::base64_encode(body);
    attributes.push_back({std::string(kEncodingAttribute), "String", "base64"});
    std::ranges::sort(attributes, {}, &MessageAttribute::name);
  }
  std::erase_if(attributes, [&](const MessageAttribute& one) {
    return !is_asked_for(wanted.attributes, one.name) && one.name != kEncodingAttribute;
  });
  json::object fields;
  const std::string* id = header_of(headers, kIdHeader);
  fields["MessageId"] = id != nullptr ? *id : message_id(item.id);
  fields["ReceiptHandle"] = core::view(reply.bytes, item.receipt);
  fields["MD5OfBody"] = net::md5_hex(body);
  fields["Body"] = std::move(body);
  if (auto system = system_attributes(call, item, headers, wanted); !system.empty()) {
    fields["Attributes"] = std::move(system);
  }
  if (attributes.empty()) return fields;
  fields["MD5OfMessageAttributes"] = md5_of(attributes);
  json::object all;
  for (const MessageAttribute& one : attributes) all[one.name] = json_of(one);
  fields["MessageAttributes"] = std::move(all);
  return fields;
}

/// A claim of a dead-letter queue looks for dead messages each second, because nothing tells it of
/// them.
Step claim_dead(const CallPtr& call, const QueueInfoPtr& queue, core::ClaimRequest request,
                ThenClaimed next, Millis left) {
  return bring_dead(
      call, queue,
      [call, queue, request = std::move(request), next = std::move(next), left]() mutable -> Step {
        core::ClaimRequest part = request;
        part.wait = std::min(left, Millis(1'000));
        return ask_for<core::ClaimReply>(
            std::move(part),
            [call, queue, request = std::move(request), next = std::move(next),
             left](const core::ClaimReply& reply) mutable -> Step {
              left -= std::min(left, Millis(1'000));
              if (!reply.items.empty() || left == Millis(0)) return next(reply);
              return claim_dead(call, queue, std::move(request), std::move(next), left);
            });
      });
}

Step claim(const CallPtr& call, const QueueInfoPtr& info) {
  const QueueInfo& queue = *info;
  Reader params(call->params);
  core::ClaimRequest request;
  request.queues.push_back(queue.name);
  request.max = static_cast<std::uint32_t>(
      params.number("MaxNumberOfMessages", 1, kMostMessages).value_or(1));
  const auto asked_wait = params.number("WaitTimeSeconds", 0, kLongestWait);
  request.wait =
      Millis(1000 * asked_wait.value_or(number_of(queue, "ReceiveMessageWaitTimeSeconds")));
  if (const auto lease = params.number("VisibilityTimeout", 0, kLongestVisibility)) {
    // The shortest lease of tarry; a message is visible again at once, as AWS has it.
    request.lease = std::max(Millis(1), Millis(1000 * *lease));
  }
  Wanted wanted;
  wanted.attributes = texts_in(params.array("MessageAttributeNames"), params);
  wanted.system = texts_in(params.array("MessageSystemAttributeNames"), params);
  for (std::string& name : texts_in(params.array("AttributeNames"), params)) {
    wanted.system.push_back(std::move(name));
  }
  wanted.in_order = is_fifo(queue.record);
  if (params.fault()) return *params.fault();
  auto answer = [call, wanted = std::move(wanted)](const core::ClaimReply& reply) -> Step {
    Fields fields;
    if (reply.items.empty()) return fields;
    json::array messages;
    for (const core::ClaimedItem& item : reply.items) {
      messages.emplace_back(message_of(*call, reply, item, wanted));
    }
    fields["Messages"] = std::move(messages);
    return fields;
  };
  if (queue.record.sources.empty()) {
    return ask_for<core::ClaimReply>(std::move(request), std::move(answer));
  }
  const Millis wait = request.wait;
  return claim_dead(call, info, std::move(request), ThenClaimed(std::move(answer)), wait);
}

}  // namespace

Step receive_message(const CallPtr& call) {
  return on_queue(call, identity::Scope::consume,
                  [call](const QueueInfoPtr& queue) -> Step { return claim(call, queue); });
}

}  // namespace tarry::sqs
