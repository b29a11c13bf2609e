#include "server/sqs/queues/fifo.h"

#include <algorithm>

#include "base/text/text.h"
#include "server/sqs/queues/message_text.h"

namespace tarry::sqs {
namespace {

constexpr std::string_view kSuffix = ".fifo";
constexpr std::string_view kFifo = "FifoQueue";
constexpr std::string_view kByContent = "ContentBasedDeduplication";
constexpr std::string_view kScope = "DeduplicationScope";
constexpr std::string_view kThroughput = "FifoThroughputLimit";

bool is_given(const GivenAttributes& given, std::string_view name, std::string_view value) {
  const auto found = given.texts.find(name);
  return found != given.texts.end() && found->second == value;
}

Fault not_for_this_type(std::string_view parameter, std::string_view value) {
  return invalid_value("Value " + std::string(value) + " for parameter " + std::string(parameter) +
                       " is invalid. Reason: The request include parameter that is not valid for "
                       "this queue type.");
}

}  // namespace

bool is_fifo(const QueueRecord& record) {
  const auto found = record.attributes.find(kFifo);
  return found != record.attributes.end() && found->second == "true";
}

bool has_fifo_name(std::string_view queue) noexcept { return queue.ends_with(kSuffix); }

std::variant<bool, Fault> asks_for_fifo(const Call& call, std::string_view queue,
                                        const GivenAttributes& given) {
  const bool fifo = is_given(given, kFifo, "true");
  if (!fifo && !has_fifo_name(queue)) return false;
  if (!fifo) {
    return invalid_value(
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length; "
        "a name that ends in .fifo needs FifoQueue=true.");
  }
  if (!has_fifo_name(queue)) {
    return invalid_value(
        "The name of a FIFO queue can only include alphanumeric characters, hyphens, or "
        "underscores, must end with .fifo suffix and be 1 to 80 in length.");
  }
  if (call.service.capabilities.groups) return true;
  std::string text =
      "FIFO queues are not supported: this server's store does not keep the messages of a group in "
      "order; a file: store does.";
  if (!call.service.strict) {
    text +=
        " It deduplicates without order: in a queue whose name does not end in .fifo, with "
        "ContentBasedDeduplication=true and without FifoQueue.";
  }
  return Fault{Kind::unsupported, std::move(text)};
}

MaybeFault check_type(const GivenAttributes& given, bool fifo, bool is_new, bool beyond_aws) {
  if (!is_new && is_given(given, kFifo, fifo ? "false" : "true")) {
    return Fault{Kind::invalid_attribute_value, "The type of a queue cannot be changed."};
  }
  if (fifo) {
    const bool by_group = is_given(given, kThroughput, "perMessageGroupId");
    if (!by_group || !is_new || is_given(given, kScope, "messageGroup")) return std::nullopt;
    return Fault{Kind::invalid_attribute_value,
                 "FifoThroughputLimit perMessageGroupId needs DeduplicationScope messageGroup."};
  }
  for (const std::string_view name : {kScope, kThroughput}) {
    if (!given.texts.contains(name)) continue;
    return Fault{Kind::invalid_attribute_name, "You can specify the " + std::string(name) +
                                                   " only when FifoQueue is set to true."};
  }
  if (beyond_aws || !is_given(given, kByContent, "true")) return std::nullopt;
  return Fault{Kind::unsupported,
               "The attribute " + std::string(kByContent) + " may only be false."};
}

void set_order(SettingsPatch& patch) {
  patch.remember = kDeduplicated;
  patch.group = Grouping{Grouping::By::header, std::string(kGroupHeader)};
  patch.group_order = GroupOrder::push;
}

MaybeFault check_send(const QueueInfo& queue, std::optional<std::string_view> group,
                      std::optional<std::string_view> deduplication,
                      std::optional<std::int64_t> delay) {
  if (!group) return missing("MessageGroupId");
  if (!is_deduplication_id(*group)) {
    return invalid_value("The MessageGroupId " + base::quoted(*group) +
                         " is not 1 to 128 letters, digits and punctuation marks.");
  }
  if (!deduplication && value_of(queue, kByContent) != "true") {
    return invalid_value(
        "The queue should either have ContentBasedDeduplication enabled or "
        "MessageDeduplicationId provided explicitly.");
  }
  // A delay of one message would hold its group; the queue's delay is the same for all.
  if (delay.value_or(0) != 0) return not_for_this_type("DelaySeconds", std::to_string(*delay));
  return std::nullopt;
}

std::string deduplication_key(const QueueInfo& queue, std::string_view id,
                              std::optional<std::string_view> group) {
  std::string key(id);
  if (value_of(queue, kScope) != "messageGroup" || !group) return key;
  // Neither has a space.
  key += ' ';
  key += *group;
  return key;
}

bool is_deduplication_id(std::string_view id) noexcept {
  constexpr std::size_t kLongest = 128;
  return !id.empty() && id.size() <= kLongest &&
         std::ranges::all_of(id, [](char c) { return c > ' ' && c <= '~'; });
}

std::string sequence_number(std::uint64_t id) {
  constexpr std::size_t kDigits = 20;
  const std::string digits = std::to_string(id);
  return std::string(kDigits - digits.size(), '0') + digits;
}

}  // namespace tarry::sqs
