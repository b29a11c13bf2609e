#include "engines/redis/inbox/inbox_entry.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "core/rules/headers.h"
#include "core/rules/time_number.h"
#include "core/rules/validation.h"
#include "core/settings/if_exists.h"

namespace tarry::redis {
namespace {

using core::MaybeError;
using net::RedisView;

constexpr std::string_view kHeaderPrefix = "header.";

Error bad_field(std::string message) { return {ErrorCode::invalid_argument, std::move(message)}; }

// The fields by name; their index in the array gives their meaning.
enum Field : std::size_t {
  kQueue,
  kVerb,
  kKey,
  kPayload,
  kDue,
  kDelay,
  kPriority,
  kIfExists,
  kMaxAttempts,
  kFields
};
struct FieldRule {
  std::string_view name;
  std::string_view verbs;  // letters of the verbs that may have it
};
constexpr std::array<FieldRule, kFields> kFieldRules = {{{"queue", "pcr"},
                                                         {"verb", "pcr"},
                                                         {"key", "pcr"},
                                                         {"payload", "p"},
                                                         {"due", "pr"},
                                                         {"delay", "pr"},
                                                         {"priority", "pr"},
                                                         {"if_exists", "p"},
                                                         {"max_attempts", "p"}}};

constexpr std::array<std::pair<std::string_view, InboxVerb>, 3> kVerbs = {
    {{"push", InboxVerb::push},
     {"cancel", InboxVerb::cancel},
     {"reschedule", InboxVerb::reschedule}}};

std::string_view name_of(InboxVerb verb) noexcept {
  return std::ranges::find(kVerbs, verb, &std::pair<std::string_view, InboxVerb>::second)->first;
}

class EntryReader {
 public:
  EntryReader(StreamId id, InboxTime time, const core::Limits& limits)
      : id_(id), time_(time), limits_(limits) {}

  Result<InboxEntry> read(RedisView fields) {
    if (auto error = gather(fields)) return std::move(*error);
    if (auto error = check_verb()) return std::move(*error);
    if (auto error = check_names()) return std::move(*error);
    if (auto error = check_numbers()) return std::move(*error);
    if (auto error = check_due()) return std::move(*error);
    return std::move(entry_);
  }

 private:
  [[nodiscard]] bool has(Field field) const { return given_[field].has_value(); }

  MaybeError gather(RedisView fields) {
    for (std::size_t i = 0; i + 1 < fields.size(); i += 2) {
      const std::string_view name = fields[i].text();
      const std::string_view value = fields[i + 1].text();
      if (name.starts_with(kHeaderPrefix)) {
        headers_.push_back({std::string(name.substr(kHeaderPrefix.size())), std::string(value)});
        continue;
      }
      const auto* const rule = std::ranges::find(kFieldRules, name, &FieldRule::name);
      if (rule == kFieldRules.end()) {
        return bad_field("field " + base::quoted(name) +
                         " is none of queue, verb, key, payload, due, delay, priority, if_exists, "
                         "max_attempts, header.NAME");
      }
      auto& given = given_[static_cast<std::size_t>(rule - kFieldRules.begin())];
      if (given) {
        return bad_field("field " + std::string(name) + " occurs twice, with " +
                         base::quoted(*given) + " and " + base::quoted(value) +
                         "; once is the limit");
      }
      given = value;
    }
    return {};
  }

  MaybeError check_verb() {
    if (has(kVerb)) {
      const auto* const verb =
          std::ranges::find(kVerbs, *given_[kVerb], &std::pair<std::string_view, InboxVerb>::first);
      if (verb == kVerbs.end()) {
        return bad_field("verb " + base::quoted(*given_[kVerb]) +
                         " must be push, cancel or reschedule");
      }
      entry_.verb = verb->second;
    }
    const std::string verb(name_of(entry_.verb));
    for (std::size_t i = 0; i < kFields; ++i) {
      if (given_[i] &&
          kFieldRules[i].verbs.find(static_cast<char>(entry_.verb)) == std::string::npos) {
        return bad_field("field " + std::string(kFieldRules[i].name) + " " +
                         base::quoted(*given_[i]) + " does not go with " + verb);
      }
    }
    if (!headers_.empty() && entry_.verb != InboxVerb::push) {
      const std::string name = std::string(kHeaderPrefix) + headers_.front().name;
      return bad_field("field " + base::quoted(name) + " " + base::quoted(headers_.front().value) +
                       " does not go with " + verb);
    }
    for (const Field field : needed()) {
      if (!has(field)) {
        return bad_field("a " + verb + " needs the field " + std::string(kFieldRules[field].name));
      }
    }
    return {};
  }

  [[nodiscard]] std::vector<Field> needed() const {
    if (entry_.verb == InboxVerb::push) return {kQueue, kPayload};
    return {kQueue, kKey};
  }

  MaybeError check_names() {
    entry_.queue = *given_[kQueue];
    if (auto error = core::check_queue_name(entry_.queue)) return error;
    if (has(kKey)) {
      entry_.key = *given_[kKey];
      if (auto error = core::check_key(entry_.key)) return error;
    }
    entry_.payload = given_[kPayload].value_or("");
    if (entry_.payload.size() > limits_.max_payload) {
      return Error{ErrorCode::too_large, "payload of " + std::to_string(entry_.payload.size()) +
                                             " bytes is over the limit of " +
                                             std::to_string(limits_.max_payload)};
    }
    auto headers = core::encode_headers(headers_);
    if (!headers) return std::move(headers).error();
    entry_.headers = *std::move(headers);
    return {};
  }

  MaybeError check_numbers() {
    if (has(kPriority)) {
      const auto priority = base::parse_u64(*given_[kPriority], "priority", 0,
                                            std::numeric_limits<std::uint32_t>::max());
      if (!priority) return priority.error();
      entry_.priority = static_cast<std::uint32_t>(*priority);
    }
    if (has(kMaxAttempts)) {
      const auto attempts =
          base::parse_u64(*given_[kMaxAttempts], "max_attempts", 1, core::kMaxAttempts);
      if (!attempts) return attempts.error();
      entry_.max_attempts = static_cast<std::uint32_t>(*attempts);
    }
    if (!has(kIfExists)) return {};
    entry_.if_exists = core::if_exists_from(*given_[kIfExists]);
    if (entry_.if_exists) return {};
    return bad_field("if_exists " + base::quoted(*given_[kIfExists]) +
                     " must be reject, keep, replace, earlier or later");
  }

  MaybeError check_due() {
    entry_.sent_ms = is_ahead() ? time_.now_ms : static_cast<std::int64_t>(id_.ms);
    if (has(kDue) && has(kDelay)) {
      return bad_field("due " + base::quoted(*given_[kDue]) + " and delay " +
                       base::quoted(*given_[kDelay]) + " exclude each other; one is the limit");
    }
    if (entry_.verb == InboxVerb::reschedule && !has(kDue) && !has(kDelay)) {
      return bad_field("a reschedule needs the field due or the field delay");
    }
    if (entry_.verb == InboxVerb::cancel) return {};
    return has(kDue) ? check_absolute() : check_delay();
  }

  [[nodiscard]] bool is_ahead() const {
    return id_.ms > static_cast<std::uint64_t>(std::max<std::int64_t>(time_.now_ms, 0));
  }

  MaybeError check_absolute() {
    const auto due = core::parse_time_ms(*given_[kDue]);
    if (!due) return bad_field("due " + due.error().message);
    if (*due - time_.now_ms > core::kMaxDelayMs) {
      return bad_field("due time " + std::to_string(*due) + " ms is more than 100 years from now");
    }
    entry_.due_ms = *due;
    return {};
  }

  // The delay counts from the entry's own time, but never from a future time: the clock may have
  // been set back, or the producer may have chosen the id. It begins with the next ms, so that no
  // delay is too short.
  MaybeError check_delay() {
    const bool ahead = is_ahead();
    const std::int64_t sent = entry_.sent_ms;
    std::int64_t delay = 0;
    if (has(kDelay)) {
      const std::string_view text = *given_[kDelay];
      if (!text.empty() && std::ranges::all_of(text, base::is_digit)) {
        const auto ms = base::parse_u64(text, "delay", 0, core::kMaxDelayMs);
        if (!ms) return ms.error();
        delay = static_cast<std::int64_t>(*ms);
      } else {
        const auto ms = base::parse_duration_ms(text);
        if (!ms) return bad_field("delay " + ms.error().message);
        delay = *ms;
      }
    }
    const std::int64_t begin = ahead ? time_.later_ms : sent + 1;
    entry_.due_ms = delay == 0 ? sent : begin + delay;
    return {};
  }

  const StreamId id_;
  const InboxTime time_;
  const core::Limits& limits_;
  std::array<std::optional<std::string_view>, kFields> given_;
  Headers headers_;
  InboxEntry entry_;
};

}  // namespace

std::optional<StreamId> read_stream_id(std::string_view text) noexcept {
  StreamId id;
  const char* const end = text.data() + text.size();
  const auto ms = std::from_chars(text.data(), end, id.ms);
  if (ms.ec != std::errc() || ms.ptr == end || *ms.ptr != '-') return {};
  const auto number = std::from_chars(ms.ptr + 1, end, id.number);
  if (number.ec != std::errc() || number.ptr != end) return {};
  return id;
}

std::string spell_in_order(StreamId id) {
  constexpr std::size_t kDigits = 20;
  std::string out;
  for (const std::uint64_t part : {id.ms, id.number}) {
    if (!out.empty()) out += '-';
    const std::string digits = std::to_string(part);
    out.append(kDigits - digits.size(), '0') += digits;
  }
  return out;
}

Result<InboxEntry> read_inbox_entry(StreamId id, RedisView fields, InboxTime time,
                                    const core::Limits& limits) {
  return EntryReader(id, time, limits).read(fields);
}

std::string mark_of(std::string_view id, RedisView fields) {
  std::uint64_t hash = base::keyed_hash(id, fields.size());
  for (std::size_t i = 0; i < fields.size(); ++i) {
    hash = base::keyed_hash(fields[i].text(), hash);
  }
  std::string mark;
  base::ByteWriter(mark).u64(hash);
  return mark;
}

}  // namespace tarry::redis
