#include "core/rules/expiry.h"

#include <string>

#include "base/text/text.h"
#include "core/settings/rule_names.h"

namespace tarry::core {
namespace {

std::string time_of(std::int64_t ms) { return base::format_time_ms(ms); }

Error unsupported(std::string_view engine, const std::string& what) {
  return {ErrorCode::unsupported,
          std::string(engine) + " cannot expire messages (" + what + "); a file: store can"};
}

}  // namespace

const std::vector<std::string_view>& on_expiry_names() {
  static const std::vector<std::string_view> kNames = names_of(kEveryOnExpiry);
  return kNames;
}

std::optional<OnExpiry> on_expiry_from(std::string_view name) noexcept {
  return rule_named(name, kEveryOnExpiry);
}

Result<Expiry> expiry_of(const PushItem& item, std::int64_t due_ms, Millis unless_named) {
  if (item.expire_at) {
    const std::int64_t at_ms = item.expire_at->time_since_epoch().count();
    if (at_ms > due_ms) return Expiry{at_ms, 0};
    return Unexpected(
        ErrorCode::invalid_argument,
        "expire_at " + time_of(at_ms) + " must be after the due time, " + time_of(due_ms));
  }
  const std::int64_t after_ms = item.expire.value_or(unless_named).count();
  if (after_ms == 0) return Expiry{};
  return Expiry{due_ms + after_ms, after_ms};
}

Expiry moved_expiry(const PushItem& item, std::int64_t due_ms) noexcept {
  const std::int64_t after_ms = item.expire.value_or(Millis(0)).count();
  if (item.expire_at) {
    const std::int64_t at_ms = item.expire_at->time_since_epoch().count();
    return at_ms == 0 ? Expiry{} : Expiry{at_ms, after_ms};
  }
  return after_ms == 0 ? Expiry{} : Expiry{due_ms + after_ms, after_ms};
}

Expiry rescheduled(Expiry expiry, std::int64_t due_ms) noexcept {
  if (expiry.after_ms != 0) return {due_ms + expiry.after_ms, expiry.after_ms};
  return due_ms < expiry.at_ms ? expiry : Expiry{};
}

std::optional<Error> check_reschedule(const Expiry& expiry, std::int64_t due_ms) {
  if (!expiry.any() || expiry.after_ms != 0 || due_ms < expiry.at_ms) return std::nullopt;
  return Error{ErrorCode::invalid_argument, "due time " + time_of(due_ms) +
                                                " must be before the message expires, at " +
                                                time_of(expiry.at_ms)};
}

std::optional<Error> refuse_expiry(std::string_view engine, const PushItem& item) {
  if (item.expire) {
    return unsupported(engine, "expire " + base::format_duration_ms(item.expire->count()));
  }
  if (!item.expire_at) return std::nullopt;
  return unsupported(engine, "expire_at " + time_of(item.expire_at->time_since_epoch().count()));
}

std::optional<Error> refuse_expiry(std::string_view engine, const SettingsPatch& patch) {
  if (patch.expire && *patch.expire != Millis(0)) {
    return unsupported(engine, "expire " + base::format_duration_ms(patch.expire->count()));
  }
  if (!patch.on_expiry || *patch.on_expiry == OnExpiry::end) return std::nullopt;
  return unsupported(engine, "on_expiry " + std::string(to_string(*patch.on_expiry)));
}

}  // namespace tarry::core
