// Expiry: when a message ends because nobody took it in time. The rules for all engines.
//
// Pure functions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include <tarry/result.h>
#include <tarry/settings.h>

#include "core/request.h"

namespace tarry::core {

/// All rules of `on_expiry`, in the order of their numbers.
inline constexpr std::initializer_list<OnExpiry> kEveryOnExpiry = {OnExpiry::end, OnExpiry::dead};
/// The names of all rules, in the same order.
[[nodiscard]] const std::vector<std::string_view>& on_expiry_names();
/// Empty if no rule has this name.
[[nodiscard]] std::optional<OnExpiry> on_expiry_from(std::string_view name) noexcept;

/// Why a message is dead that expired.
inline constexpr std::string_view kExpiredReason = "expired";

struct Expiry {
  std::int64_t at_ms = 0;     // since 1970; from this moment on no claim gets the message; 0: never
  std::int64_t after_ms = 0;  // so long after the due time; 0: at a fixed time

  [[nodiscard]] bool any() const noexcept { return at_ms != 0; }
  friend bool operator==(const Expiry&, const Expiry&) = default;
};

/// The expiry of a new message that is due at `due_ms`; `unless_named`: the queue's `expire`.
/// Error: `invalid_argument` if it would not be after the due time.
[[nodiscard]] Result<Expiry> expiry_of(const PushItem& item, std::int64_t due_ms,
                                       Millis unless_named);
/// The same for a moved message, which keeps what it had: its due time may be that of a retry.
[[nodiscard]] Expiry moved_expiry(const PushItem& item, std::int64_t due_ms) noexcept;

/// The expiry after the message got another due time, by a reschedule or a revive. A fixed time
/// that is not after the due time is dropped.
[[nodiscard]] Expiry rescheduled(Expiry expiry, std::int64_t due_ms) noexcept;
/// `invalid_argument` if the reschedule asks for a due time that is not before a fixed expiry.
[[nodiscard]] std::optional<Error> check_reschedule(const Expiry& expiry, std::int64_t due_ms);

/// For engines that cannot expire messages: `unsupported`, which names the first expiry.
[[nodiscard]] std::optional<Error> refuse_expiry(std::string_view engine, const PushItem& item);
[[nodiscard]] std::optional<Error> refuse_expiry(std::string_view engine,
                                                 const SettingsPatch& patch);

}  // namespace tarry::core
