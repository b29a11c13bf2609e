#include "server/sqs/queues/queue_attributes.h"

#include <algorithm>
#include <array>
#include <utility>

#include <boost/json/parse.hpp>

#include "base/text/text.h"
#include "core/limits.h"
#include "server/sqs/protocol/reader.h"
#include "server/sqs/queues/fifo.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

constexpr std::int64_t kLongestDelay = 900;
constexpr std::int64_t kMostReceives = 1'000;
constexpr std::string_view kDeduplication = "ContentBasedDeduplication";

struct NumberRule {
  std::string_view name;
  std::int64_t min;
  std::int64_t max;
  std::int64_t standard;
};
constexpr std::array kNumbers = {
    NumberRule{"VisibilityTimeout", 0, 43'200, 30},
    NumberRule{"DelaySeconds", 0, core::kMaxDelayMs / 1000, 0},
    NumberRule{"MaximumMessageSize", 1'024, 1'048'576, 1'048'576},
    NumberRule{"MessageRetentionPeriod", 60, 1'209'600, 345'600},
    NumberRule{"ReceiveMessageWaitTimeSeconds", 0, 20, 0},
};

const NumberRule* rule_of(std::string_view name) noexcept {
  const auto found = std::ranges::find(kNumbers, name, &NumberRule::name);
  return found == kNumbers.end() ? nullptr : &*found;
}

Fault bad_value(std::string_view name, std::string_view value, std::string_view why) {
  return {Kind::invalid_attribute_value, "Invalid value for the parameter " + std::string(name) +
                                             ". " + base::quoted(value) + " " + std::string(why)};
}

struct ChoiceRule {
  std::string_view name;
  std::string_view standard;
  std::string_view other;
};
// What FIFO queues have, and their defaults.
constexpr std::array kFifoChoices = {
    ChoiceRule{kDeduplication, "false", "true"},
    ChoiceRule{"DeduplicationScope", "queue", "messageGroup"},
    ChoiceRule{"FifoThroughputLimit", "perQueue", "perMessageGroupId"},
};

/// The policy as JSON; null if it is not an object.
json::value parse_policy(std::string_view text) {
  boost::system::error_code error;
  json::value value = json::parse(text, error);
  if (error || !value.is_object()) return nullptr;
  return value;
}

std::optional<std::int64_t> whole_in(const json::object& from, std::string_view name) {
  const json::value* found = from.if_contains(name);
  if (found == nullptr) return std::nullopt;
  if (const std::int64_t* number = found->if_int64()) return *number;
  const json::string* text = found->if_string();
  return text != nullptr ? parse_whole(*text) : std::nullopt;
}

std::string_view text_in(const json::object& from, std::string_view name) {
  const json::value* found = from.if_contains(name);
  const json::string* text = found != nullptr ? found->if_string() : nullptr;
  return text != nullptr ? std::string_view(*text) : std::string_view();
}

MaybeFault check_redrive(std::string_view value, GivenAttributes& given) {
  given.dead_letter_queue.emplace();
  if (value.empty()) return std::nullopt;
  const json::value policy = parse_policy(value);
  if (policy.is_null()) return bad_value("RedrivePolicy", value, "is not a JSON object.");
  const auto receives = whole_in(policy.get_object(), "maxReceiveCount");
  if (!receives || *receives < 1 || *receives > kMostReceives) {
    return bad_value("RedrivePolicy", value, "has no maxReceiveCount from 1 to 1000.");
  }
  const auto target = name_in_arn(text_in(policy.get_object(), "deadLetterTargetArn"));
  if (!is_queue_name(target)) {
    return bad_value("RedrivePolicy", value, "has no deadLetterTargetArn of an SQS queue.");
  }
  given.dead_letter_queue = target;
  return std::nullopt;
}

MaybeFault check_attribute(std::string_view name, std::string_view value, bool beyond_aws,
                           GivenAttributes& given) {
  if (const NumberRule* rule = rule_of(name)) {
    const bool is_short = name == "DelaySeconds" && !beyond_aws;
    const std::int64_t max = is_short ? kLongestDelay : rule->max;
    const auto number = parse_whole(value);
    if (number && *number >= rule->min && *number <= max) return std::nullopt;
    return bad_value(
        name, value,
        "is not from " + std::to_string(rule->min) + " to " + std::to_string(max) + ".");
  }
  if (name == "RedrivePolicy") return check_redrive(value, given);
  if (name == "RedriveAllowPolicy") {
    if (value.empty() || !parse_policy(value).is_null()) return std::nullopt;
    return bad_value(name, value, "is not a JSON object.");
  }
  // What these would promise, tarry does not do; a client that asks for it must learn that.
  if (name == "Policy" || name == "KmsMasterKeyId" || name == "KmsDataKeyReusePeriodSeconds") {
    if (value.empty()) return std::nullopt;
    return Fault{Kind::unsupported, "The attribute " + std::string(name) +
                                        " is not supported: rights are those of tokens, and "
                                        "nothing is encrypted at rest."};
  }
  const auto choice = std::ranges::find(kFifoChoices, name, &ChoiceRule::name);
  if (choice != kFifoChoices.end()) {
    if (value == choice->standard || value == choice->other) return std::nullopt;
    return bad_value(
        name, value,
        "is not " + std::string(choice->standard) + " or " + std::string(choice->other) + ".");
  }
  if (name == "FifoQueue") {
    if (value == "true" || value == "false") return std::nullopt;
    return bad_value(name, value, "is not true or false.");
  }
  if (name == "SqsManagedSseEnabled") {
    if (value == "false") return std::nullopt;
    return Fault{Kind::unsupported, "The attribute " + std::string(name) + " may only be false."};
  }
  return Fault{Kind::invalid_attribute_name, "Unknown Attribute " + base::quoted(name) + "."};
}

Millis lease_of(std::int64_t seconds) {
  // A lease of 0 s ends at once; the shortest of tarry is 1 ms.
  return std::max(Millis(1), Millis(seconds * 1000));
}

}  // namespace

MaybeFault read_attributes(const json::object& from, bool beyond_aws, GivenAttributes& given) {
  for (const auto& [name, value] : from) {
    const json::string* text = value.if_string();
    if (text == nullptr) {
      return Fault{Kind::malformed, "The attribute " + base::quoted(name) + " is not a string."};
    }
    if (auto fault = check_attribute(name, *text, beyond_aws, given)) return fault;
    given.texts.insert_or_assign(std::string(name), std::string(*text));
  }
  return std::nullopt;
}

SettingsPatch patch_of(const GivenAttributes& given, bool fifo, bool is_new) {
  SettingsPatch patch;
  if (is_new) {
    patch.lease = Millis(30'000);
    patch.max_attempts = core::kMaxAttempts;
    if (fifo) set_order(patch);
  }
  for (const auto& [name, value] : given.texts) {
    const std::int64_t number = parse_whole(value).value_or(0);
    if (name == "VisibilityTimeout") patch.lease = lease_of(number);
    if (name == "MessageRetentionPeriod") patch.dead_keep = Millis(number * 1000);
    // A FIFO queue deduplicates in any case.
    if (name == kDeduplication && !fifo)
      patch.remember = value == "true" ? kDeduplicated : Millis(0);
    if (name != "RedrivePolicy") continue;
    const json::value policy = parse_policy(value);
    patch.max_attempts = policy.is_null()
                             ? core::kMaxAttempts
                             : static_cast<std::uint32_t>(
                                   whole_in(policy.get_object(), "maxReceiveCount").value_or(1));
  }
  return patch;
}

void put(const GivenAttributes& given, QueueRecord& record) {
  for (const auto& [name, value] : given.texts) {
    if (name == "VisibilityTimeout") continue;
    if (value.empty() || value == "false") {
      record.attributes.erase(name);
    } else {
      record.attributes.insert_or_assign(name, value);
    }
  }
}

std::optional<std::string> value_of(const QueueInfo& queue, std::string_view name) {
  if (name == "VisibilityTimeout" && queue.exists) {
    return std::to_string(queue.stats.settings.lease.count() / 1000);
  }
  if (const auto found = queue.record.attributes.find(name);
      found != queue.record.attributes.end()) {
    return found->second;
  }
  if (const NumberRule* rule = rule_of(name)) return std::to_string(rule->standard);
  if (name == "SqsManagedSseEnabled") return "false";
  const auto choice = std::ranges::find(kFifoChoices, name, &ChoiceRule::name);
  if (choice != kFifoChoices.end() && is_fifo(queue.record)) return std::string(choice->standard);
  return std::nullopt;
}

std::vector<std::string_view> attribute_names() {
  return {"QueueArn",
          "ApproximateNumberOfMessages",
          "ApproximateNumberOfMessagesNotVisible",
          "ApproximateNumberOfMessagesDelayed",
          "CreatedTimestamp",
          "LastModifiedTimestamp",
          "VisibilityTimeout",
          "MaximumMessageSize",
          "MessageRetentionPeriod",
          "DelaySeconds",
          "ReceiveMessageWaitTimeSeconds",
          "RedrivePolicy",
          "RedriveAllowPolicy",
          "SqsManagedSseEnabled",
          "Policy",
          "KmsMasterKeyId",
          "KmsDataKeyReusePeriodSeconds",
          "FifoQueue",
          kDeduplication,
          "DeduplicationScope",
          "FifoThroughputLimit"};
}

std::optional<std::string> attribute_of(const Call& call, const QueueInfo& queue,
                                        std::string_view name) {
  if (name == "QueueArn") return arn_of(call, queue.name);
  if (name == "ApproximateNumberOfMessages") return std::to_string(queue.stats.ready);
  if (name == "ApproximateNumberOfMessagesNotVisible") return std::to_string(queue.stats.leased);
  if (name == "ApproximateNumberOfMessagesDelayed") return std::to_string(queue.stats.scheduled);
  if (name == "CreatedTimestamp") return std::to_string(queue.record.created_s);
  if (name == "LastModifiedTimestamp") return std::to_string(queue.record.modified_s);
  return value_of(queue, name);
}

bool deduplicates(const QueueInfo& queue) {
  return is_fifo(queue.record) || value_of(queue, kDeduplication).value_or("") == "true";
}

std::int64_t number_of(const QueueInfo& queue, std::string_view name) {
  return parse_whole(value_of(queue, name).value_or("")).value_or(0);
}

std::string dead_letter_queue_of(const QueueRecord& record) {
  const auto found = record.attributes.find("RedrivePolicy");
  if (found == record.attributes.end()) return {};
  const json::value policy = parse_policy(found->second);
  if (policy.is_null()) return {};
  return std::string(name_in_arn(text_in(policy.get_object(), "deadLetterTargetArn")));
}

}  // namespace tarry::sqs
