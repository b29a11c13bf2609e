// SendMessage and SendMessageBatch.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/text/text.h"
#include "core/limits.h"
#include "core/rules/headers.h"
#include "net/md5.h"
#include "net/sha256.h"
#include "server/sqs/operations/batch.h"
#include "server/sqs/operations/operations.h"
#include "server/sqs/protocol/reader.h"
#include "server/sqs/queues/fifo.h"
#include "server/sqs/queues/message_attributes.h"
#include "server/sqs/queues/message_text.h"
#include "server/sqs/queues/queue_attributes.h"
#include "server/sqs/queues/queue_info.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostBatchBytes = 1'048'576;
constexpr std::int64_t kStrictDelay = 900;

/// What the answer to an accepted message says.
struct Sent {
  std::string body_md5;
  std::string attributes_md5;
  std::string system_md5;
  std::size_t size = 0;
  bool is_deduplicated = false;
  bool in_order = false;  // the queue is FIFO
};

/// AWSTraceHeader is the only system attribute that a sender may give.
MaybeFault read_system_attributes(const json::object* from, Headers& headers, Sent& sent) {
  if (from == nullptr) return std::nullopt;
  MessageAttributes attributes;
  if (auto fault = read_message_attributes(*from, attributes)) return fault;
  for (const MessageAttribute& one : attributes) {
    if (one.name != "AWSTraceHeader" || one.is_binary()) {
      return invalid_value("The message system attribute " + base::quoted(one.name) +
                           " is not AWSTraceHeader of the type String.");
    }
    headers.push_back({std::string(kTraceHeader), one.value});
  }
  sent.system_md5 = md5_of(attributes);
  return std::nullopt;
}

MaybeFault check_body(std::string_view body, const Sent& sent, std::int64_t most) {
  if (body.empty()) return missing("MessageBody");
  if (sent.size > static_cast<std::size_t>(most)) {
    return invalid_value(
        "One or more parameters are invalid. Reason: Message must be shorter than " +
        std::to_string(most) + " bytes; it has " + std::to_string(sent.size) +
        " with its attributes.");
  }
  if (is_message_text(body)) return std::nullopt;
  return Fault{Kind::invalid_contents,
               "Invalid characters found. Valid unicode characters are #x9 | #xA | #xD | #x20 to "
               "#xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF."};
}

/// Reads a message's parameters, and appends the message to the push.
MaybeFault add_message(const Call& call, const QueueInfo& queue, const json::object& from,
                       core::PushRequest& push, Sent& sent) {
  Reader params(from);
  const std::string_view body = params.text("MessageBody").value_or(std::string_view());
  const std::int64_t longest = call.service.strict ? kStrictDelay : core::kMaxDelayMs / 1000;
  const auto delay = params.number("DelaySeconds", 0, longest);
  const json::object* given = params.object("MessageAttributes");
  const json::object* system = params.object("MessageSystemAttributes");
  const auto group = params.text("MessageGroupId");
  constexpr std::size_t kLongestGroup = 128;
  if (group && (group->empty() || group->size() > kLongestGroup || !is_message_text(*group))) {
    params.fail(invalid_value("The MessageGroupId is not 1 to 128 characters."));
  }
  const bool is_deduplicated = deduplicates(queue);
  const auto given_id = params.text("MessageDeduplicationId");
  if (given_id && !is_deduplicated) {
    params.fail(
        invalid_value("The request includes the parameter MessageDeduplicationId, which is "
                      "not valid for this queue type."));
  }
  if (given_id && !is_deduplication_id(*given_id)) {
    params.fail(invalid_value("The MessageDeduplicationId " + base::quoted(*given_id) +
                              " is not 1 to 128 letters, digits and punctuation marks."));
  }
  sent.in_order = is_fifo(queue.record);
  if (params.fault()) return params.fault();
  if (sent.in_order) {
    if (auto fault = check_send(queue, group, given_id, delay)) return fault;
  }
  MessageAttributes attributes;
  if (given != nullptr) {
    if (auto fault = read_message_attributes(*given, attributes)) return fault;
  }
  Headers headers;
  if (auto fault = read_system_attributes(system, headers, sent)) return fault;
  sent.size = body.size() + size_of(attributes);
  if (auto fault = check_body(body, sent, number_of(queue, "MaximumMessageSize"))) return fault;
  sent.body_md5 = net::md5_hex(body);
  sent.attributes_md5 = md5_of(attributes);

  core::PushItem item;
  const auto key = std::ranges::find(attributes, kKeyAttribute, &MessageAttribute::name);
  if (key != attributes.end()) {
    if (given_id || sent.in_order) {
      return invalid_value("tarry.key and MessageDeduplicationId both name the message.");
    }
    item.key = core::append(push.bytes, key->value);
  } else if (is_deduplicated) {
    sent.is_deduplicated = true;
    const std::string id = given_id ? std::string(*given_id) : net::sha256_hex(body);
    item.key = core::append(push.bytes, deduplication_key(queue, id, group));
    item.if_exists = IfExists::keep;
    headers.push_back({std::string(kDeduplicationHeader), id});
  }
  if (call.service.capabilities.headers) {
    add_headers(attributes, headers);
    const auto now = call.service.now().time_since_epoch();
    headers.push_back({std::string(kSentHeader), std::to_string(now.count())});
    if (!call.identity->name.empty()) {
      headers.push_back({std::string(kSenderHeader), call.identity->name});
    }
    if (group) headers.push_back({std::string(kGroupHeader), std::string(*group)});
    const auto encoded = core::encode_headers(headers);
    if (!encoded) return fault_of(encoded.error());
    item.headers = core::append(push.bytes, *encoded);
  } else if (!attributes.empty()) {
    return Fault{Kind::unsupported, "The store keeps no message attributes."};
  }
  item.payload = core::append(push.bytes, body);
  item.due = Due::after(Millis(1000 * delay.value_or(number_of(queue, "DelaySeconds"))));
  push.items.push_back(item);
  return std::nullopt;
}

/// The fields for a message, or why it was not accepted.
std::variant<Fields, Fault> answer_of(const core::PushResult& pushed, const Sent& sent) {
  if (pushed.error) return fault_of(*pushed.error);
  switch (sent.is_deduplicated ? Outcome::kept : pushed.outcome) {
    case Outcome::exists:
    case Outcome::in_flight:
    case Outcome::settled: {
      Fault fault = invalid_value("A message with this tarry.key " +
                                  std::string(pushed.outcome == Outcome::settled
                                                  ? "was settled, and is remembered."
                                                  : "exists."));
      fault.code_here = pushed.outcome == Outcome::settled     ? "tarry.settled"
                        : pushed.outcome == Outcome::in_flight ? "tarry.in_flight"
                                                               : "tarry.exists";
      return fault;
    }
    default: break;
  }
  Fields fields;
  fields["MessageId"] = message_id(pushed.id);
  fields["MD5OfMessageBody"] = sent.body_md5;
  if (!sent.attributes_md5.empty()) fields["MD5OfMessageAttributes"] = sent.attributes_md5;
  if (!sent.system_md5.empty()) fields["MD5OfMessageSystemAttributes"] = sent.system_md5;
  if (sent.in_order) fields["SequenceNumber"] = sequence_number(pushed.id);
  return fields;
}

Step send_entries(const CallPtr& call, const QueueInfo& queue) {
  std::vector<Entry> entries;
  if (auto fault = read_entries(call->params, entries)) return *std::move(fault);
  core::PushRequest push;
  push.queue = queue.name;
  BatchAnswer answer;
  std::vector<std::pair<std::string, Sent>> taken;
  std::size_t size = 0;
  for (Entry& entry : entries) {
    Sent sent;
    auto fault = add_message(*call, queue, *entry.params, push, sent);
    size += sent.size;
    if (fault) {
      answer.failed(entry.id, *fault);
    } else {
      taken.emplace_back(std::move(entry.id), std::move(sent));
    }
  }
  if (size > kMostBatchBytes) {
    return Fault{Kind::batch_too_long,
                 "Batch requests cannot be longer than " + std::to_string(kMostBatchBytes) +
                     " bytes. You have sent " + std::to_string(size) + " bytes."};
  }
  if (taken.empty()) return answer.take();
  return ask_for<core::PushReply>(
      std::move(push),
      [taken = std::move(taken),
       answer = std::move(answer)](const core::PushReply& reply) mutable -> Step {
        if (reply.items.size() != taken.size()) {
          return Fault{Kind::internal, "the engine's answer does not fit the request"};
        }
        for (std::size_t i = 0; i < taken.size(); ++i) {
          auto one = answer_of(reply.items[i], taken[i].second);
          if (auto* fields = std::get_if<Fields>(&one)) {
            answer.succeeded(taken[i].first, std::move(*fields));
          } else {
            answer.failed(taken[i].first, std::get<Fault>(one));
          }
        }
        return answer.take();
      });
}

}  // namespace

Step send_message(const CallPtr& call) {
  return on_queue(call, identity::Scope::push, [call](const QueueInfoPtr& queue) -> Step {
    core::PushRequest push;
    push.queue = queue->name;
    Sent sent;
    if (auto fault = add_message(*call, *queue, call->params, push, sent)) return *std::move(fault);
    return ask_for<core::PushReply>(
        std::move(push), [sent = std::move(sent)](const core::PushReply& reply) -> Step {
          if (reply.items.size() != 1) {
            return Fault{Kind::internal, "the engine's answer does not fit the request"};
          }
          auto one = answer_of(reply.items.front(), sent);
          if (auto* fault = std::get_if<Fault>(&one)) return std::move(*fault);
          return std::move(std::get<Fields>(one));
        });
  });
}

Step send_message_batch(const CallPtr& call) {
  return on_queue(call, identity::Scope::push,
                  [call](const QueueInfoPtr& queue) -> Step { return send_entries(call, *queue); });
}

}  // namespace tarry::sqs
