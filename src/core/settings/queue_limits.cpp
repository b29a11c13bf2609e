#include "core/settings/queue_limits.h"

#include "base/text/text.h"
#include "core/settings/delivery_rate.h"
#include "core/settings/grouping.h"

namespace tarry::core {
namespace {

constexpr std::string_view kNoLimit = "none";

bool is_full(const QueueStats& queue) noexcept {
  const std::uint32_t most = queue.settings.max_leased;
  return most != 0 && queue.leased >= most;
}

bool all_groups_held(const QueueStats& queue) noexcept {
  return queue.groups_held != 0 && queue.groups_held == queue.groups_ready;
}

bool keeps_order(const QueueStats& queue) noexcept {
  return queue.settings.group_order == GroupOrder::push;
}

bool is_group_full(const MessageInfo& message, const QueueStats& queue) noexcept {
  const std::uint32_t most = queue.settings.group_max_leased;
  return most != 0 && !message.group.empty() && message.group_leased >= most;
}

Error unsupported_limit(std::string_view engine, const std::string& what) {
  return {ErrorCode::unsupported,
          std::string(engine) + " cannot limit a queue (" + what + "); a file: store can"};
}

}  // namespace

Result<std::uint32_t> parse_limit(std::string_view name, std::string_view text, std::uint32_t max) {
  if (text == kNoLimit) return std::uint32_t{0};
  const auto limit = base::parse_u64(text, name, 1, max);
  if (limit) return static_cast<std::uint32_t>(*limit);
  return Unexpected(ErrorCode::invalid_argument, std::string(name) + " " + base::quoted(text) +
                                                     " must be 1 to " + std::to_string(max) +
                                                     ", or none");
}

std::string limit_text(std::uint32_t limit) {
  return limit == 0 ? std::string(kNoLimit) : std::to_string(limit);
}

bool is_limited(const QueueStats& queue) noexcept {
  return is_full(queue) || queue.rate_next.has_value() || all_groups_held(queue);
}

bool is_limited(const MessageInfo& message, const QueueStats& queue) noexcept {
  return is_limited(queue) || message.group_waits || is_group_full(message, queue);
}

std::string limit_held(const MessageInfo& message, const QueueStats& queue) {
  if (message.group_waits) {
    return "held by group_order push: an earlier message of group " + base::quoted(message.group) +
           " has not ended";
  }
  if (!is_group_full(message, queue)) return limit_held(queue);
  return "held by group_max_leased: group " + base::quoted(message.group) + " has " +
         std::to_string(message.group_leased) + " of " +
         std::to_string(queue.settings.group_max_leased) + " leased";
}

std::string limit_held(const QueueStats& queue) {
  if (!is_full(queue) && !queue.rate_next) {
    if (keeps_order(queue)) {
      return "held by group_order push: in each group with ready messages, an earlier one has not "
             "ended";
    }
    return "held by group_max_leased: each group with ready messages has " +
           std::to_string(queue.settings.group_max_leased) + " leased";
  }
  if (!is_full(queue)) {
    const std::int64_t next = queue.rate_next.value_or(Time()).time_since_epoch().count();
    return "held by rate: next at " + base::format_time_ms(next);
  }
  return "held by max_leased: " + std::to_string(queue.leased) + " of " +
         std::to_string(queue.settings.max_leased) + " leased";
}

std::optional<Error> refuse_limits(std::string_view engine, const SettingsPatch& patch) {
  if (patch.max_leased.value_or(0) != 0) {
    return unsupported_limit(engine, "max_leased " + std::to_string(*patch.max_leased));
  }
  const DeliveryRate rate = patch.rate.value_or(DeliveryRate());
  if (rate != DeliveryRate()) return unsupported_limit(engine, "rate " + delivery_rate_text(rate));
  return refuse_groups(engine, patch);
}

std::optional<Error> refuse_groups(std::string_view engine, const SettingsPatch& patch) {
  if (patch.group_order.value_or(GroupOrder::due) != GroupOrder::due) {
    return Error{ErrorCode::unsupported,
                 std::string(engine) +
                     " cannot keep the order of a group (group_order push); a file: store can"};
  }
  if (patch.group && patch.group->by != Grouping::By::none) {
    return Error{ErrorCode::unsupported, std::string(engine) + " has no groups (group " +
                                             grouping_text(*patch.group) + "); a file: store has"};
  }
  if (patch.group_max_leased.value_or(0) != 0) {
    return unsupported_limit(engine, "group_max_leased " + std::to_string(*patch.group_max_leased));
  }
  if (patch.history.value_or(0) == 0) return std::nullopt;
  return no_history(engine, "history " + std::to_string(*patch.history));
}

Error no_history(std::string_view engine, std::string_view asked) {
  return {ErrorCode::unsupported, std::string(engine) + " keeps no histories of messages (" +
                                      std::string(asked) + "); a file: store can"};
}

}  // namespace tarry::core
