// The table of queue settings: each is one row here, and one member of QueueSettings and
// SettingsPatch. Validation, JSON, the configuration file, the command line, the journal and the
// Redis engine all loop over these rows.
//
// The defaults stand in <tarry/settings.h>, as the initial values of QueueSettings.
//
// To add a setting, add a member to both structs of <tarry/settings.h>, and a row at the end of the
// table. The default of a new setting must be 0, because scripts read 0 for a setting that an older
// store does not have. In Redis the setting becomes a further word of META's settings. In the
// journal it makes the queue's record longer, which is a new version of the format ("Changing a
// format" in CONTRIBUTING.md).
//
// Thread safety: constants and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <type_traits>

#include <tarry/settings.h>

#include "core/limits.h"

namespace tarry::core {

/// The fields of all kinds of rows. `name` is the setting's name in JSON, in the configuration file
/// and in errors; its flag has '-' for '_'.
template <typename T>
struct SettingRow {
  std::string_view name;
  T QueueSettings::* value;
  std::optional<T> SettingsPatch::* change;
  std::string_view help;  ///< for `tarry queue set --help`
};

struct DurationSetting : SettingRow<Millis> {
  std::string_view name_ms;  ///< in JSON, for whole milliseconds
  Millis min;
  Millis max;
};

struct CountSetting : SettingRow<std::uint32_t> {
  std::uint32_t min;
  std::uint32_t max;
};

struct RuleSetting : SettingRow<IfExists> {};

struct OnExpirySetting : SettingRow<OnExpiry> {};

/// A duration that may be 0, for "none". Engines that cannot expire messages refuse all others.
struct ExpireSetting : DurationSetting {};

/// A count that may be 0, for "none". Engines that hold no limits refuse all others; so do those
/// that keep no history.
struct LimitSetting : SettingRow<std::uint32_t> {
  std::uint32_t max;
};

/// A text: core/settings/delivery_rate.h. Engines that hold no limits refuse all but none.
struct RateSetting : SettingRow<DeliveryRate> {};

/// A text: core/settings/grouping.h. Engines that hold no limits refuse all but none.
struct GroupSetting : SettingRow<Grouping> {};

/// Engines that hold no limits refuse all but `due`.
struct GroupOrderSetting : SettingRow<GroupOrder> {};

/// A text: core/settings/objective.h.
struct ObjectiveSetting : SettingRow<Objective> {};

/// The rows have the order of the words in Redis, so a row must never be moved or removed.
inline constexpr std::tuple kSettingsTable{
    DurationSetting{{"lease", &QueueSettings::lease, &SettingsPatch::lease,
                     "How long a lease lasts: 1ms to 7d"},
                    "lease_ms",
                    Millis(1),
                    Millis(kMaxLeaseMs)},
    CountSetting{{"max_attempts", &QueueSettings::max_attempts, &SettingsPatch::max_attempts,
                  "Deliveries before a message is dead: 1 to 65535"},
                 1,
                 kMaxAttempts},
    DurationSetting{{"backoff_min", &QueueSettings::backoff_min, &SettingsPatch::backoff_min,
                     "The first retry's delay; it doubles with each attempt"},
                    "backoff_min_ms",
                    Millis(0),
                    Millis(kMaxBackoffMs)},
    DurationSetting{{"backoff_max", &QueueSettings::backoff_max, &SettingsPatch::backoff_max,
                     "The longest delay of a retry, up to 365d"},
                    "backoff_max_ms",
                    Millis(0),
                    Millis(kMaxBackoffMs)},
    DurationSetting{{"remember", &QueueSettings::remember, &SettingsPatch::remember,
                     "How long a key stays known after its ack or cancel: 0s to 365d"},
                    "remember_ms",
                    Millis(0),
                    Millis(kMaxRememberMs)},
    DurationSetting{{"dead_keep", &QueueSettings::dead_keep, &SettingsPatch::dead_keep,
                     "How long dead messages are kept: 1s to 3650d"},
                    "dead_keep_ms",
                    Millis(1000),
                    Millis(kMaxDeadKeepMs)},
    RuleSetting{{"if_exists", &QueueSettings::if_exists, &SettingsPatch::if_exists,
                 "What a push does if its key is taken"}},
    ObjectiveSetting{{"objective", &QueueSettings::objective, &SettingsPatch::objective,
                      "How many are on time: \"99% within 1s\", or none"}},
    ExpireSetting{{{"expire", &QueueSettings::expire, &SettingsPatch::expire,
                    "How long after its due time a message expires; 0s: never"},
                   "expire_ms",
                   Millis(0),
                   Millis(kMaxDelayMs)}},
    OnExpirySetting{{"on_expiry", &QueueSettings::on_expiry, &SettingsPatch::on_expiry,
                     "What becomes of a message that expires"}},
    LimitSetting{{"max_leased", &QueueSettings::max_leased, &SettingsPatch::max_leased,
                  "Messages leased at once, over all consumers: 1 to 1000000, or none"},
                 kMaxMaxLeased},
    RateSetting{{"rate", &QueueSettings::rate, &SettingsPatch::rate,
                 "Claims at most: \"100/1s\", \"100/1s burst 20\", or none"}},
    GroupSetting{{"group", &QueueSettings::group, &SettingsPatch::group,
                  "What names a message's group: key (its {...} part), header:NAME, or none"}},
    LimitSetting{
        {"group_max_leased", &QueueSettings::group_max_leased, &SettingsPatch::group_max_leased,
         "Messages of a group leased at once: 1 to 1000000, or none"},
        kMaxMaxLeased},
    LimitSetting{{"history", &QueueSettings::history, &SettingsPatch::history,
                  "Events of each message that are kept: 1 to 100, or none"},
                 kMaxHistory},
    GroupOrderSetting{{"group_order", &QueueSettings::group_order, &SettingsPatch::group_order,
                       "The order in a group: of due times, or of pushes, one at a time"}},
};

inline constexpr std::size_t kSettings = std::tuple_size_v<decltype(kSettingsTable)>;

/// Calls `visit` with each row, in the table's order.
template <typename Visit>
constexpr void each_setting(Visit&& visit) {
  std::apply([&](const auto&... rows) { (visit(rows), ...); }, kSettingsTable);
}

/// For the rows of one kind only.
template <typename Row, typename Visit>
constexpr void each_setting_of(Visit&& visit) {
  each_setting([&](const auto& row) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(row)>, Row>) visit(row);
  });
}

template <typename Row>
[[nodiscard]] consteval std::size_t settings_of() {
  std::size_t rows = 0;
  each_setting_of<Row>([&](const Row&) { ++rows; });
  return rows;
}

/// `settings` changed by `patch`, which the caller has checked.
[[nodiscard]] QueueSettings apply(const SettingsPatch& patch, QueueSettings settings);
/// Overwrites in `onto` every setting that `over` sets.
void lay(SettingsPatch& onto, const SettingsPatch& over);
/// A patch that sets every setting to these values.
[[nodiscard]] SettingsPatch patch_of(const QueueSettings& settings);

}  // namespace tarry::core
