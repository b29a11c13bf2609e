// A queue's settings as bytes of its record, as docs/formats/journal.md has them: durations, then
// counts, then rules, each kind in the order of the table; then the objective as one number, if
// there is one; then what concerns expiry, behind an objective of 0 if there is none; then the
// limits, behind what concerns expiry; then what concerns groups and history, behind the limits
// (all from version 2 on). Size, writing and reading stand here together. A new setting needs a new
// version of the format.
//
// Thread safety: constants and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/settings.h>

#include "base/bytes.h"
#include "core/limits.h"
#include "core/settings/delivery_rate.h"
#include "core/settings/grouping.h"
#include "core/settings/objective.h"
#include "core/settings/settings_table.h"

namespace tarry::embedded {

/// The bytes of settings without an objective.
inline constexpr std::size_t kPlainSettingsBytes = core::settings_of<core::DurationSetting>() * 8 +
                                                   core::settings_of<core::CountSetting>() * 4 +
                                                   core::settings_of<core::RuleSetting>() * 4;
inline constexpr std::size_t kObjectiveSettingsBytes = kPlainSettingsBytes + 8;
/// With `expire` and `on_expiry`.
inline constexpr std::size_t kExpirySettingsBytes = kObjectiveSettingsBytes + 8 + 4;
/// With limits.
inline constexpr std::size_t kLimitSettingsBytes = kExpirySettingsBytes + 4 + 4 + 8 + 4;
/// With what concerns groups and history, but without the name of the header.
inline constexpr std::size_t kGroupSettingsBytes = kLimitSettingsBytes + 1 + 1 + 2 + 4;
/// The most bytes that settings take.
inline constexpr std::size_t kSettingsBytes = kGroupSettingsBytes + core::kMaxGroupHeader;

/// In one byte: what names a group, and this if its messages come in the order of their pushes.
inline constexpr std::uint8_t kPushOrder = 16;

/// The size of the settings.
[[nodiscard]] inline std::size_t settings_bytes(const QueueSettings& settings) noexcept {
  if (settings.group.by != Grouping::By::none || settings.group_max_leased != 0 ||
      settings.history != 0 || settings.group_order != GroupOrder::due) {
    return kGroupSettingsBytes + settings.group.header.size();
  }
  if (settings.max_leased != 0 || settings.rate != DeliveryRate()) return kLimitSettingsBytes;
  if (settings.expire.count() != 0 || settings.on_expiry != OnExpiry::end) {
    return kExpirySettingsBytes;
  }
  return settings.objective == Objective() ? kPlainSettingsBytes : kObjectiveSettingsBytes;
}

inline void write_settings(base::ByteFiller& to, const QueueSettings& settings) {
  core::each_setting_of<core::DurationSetting>(
      [&](const auto& row) { to.i64((settings.*row.value).count()); });
  core::each_setting_of<core::CountSetting>([&](const auto& row) { to.u32(settings.*row.value); });
  core::each_setting_of<core::RuleSetting>(
      [&](const auto& row) { to.u32(static_cast<std::uint32_t>(settings.*row.value)); });
  const std::size_t bytes = settings_bytes(settings);
  if (bytes > kPlainSettingsBytes) to.u64(core::objective_number(settings.objective));
  if (bytes <= kObjectiveSettingsBytes) return;
  to.i64(settings.expire.count());
  to.u32(static_cast<std::uint32_t>(settings.on_expiry));
  if (bytes <= kExpirySettingsBytes) return;
  to.u32(settings.max_leased);
  to.u32(settings.rate.count);
  to.i64(settings.rate.per.count());
  to.u32(settings.rate.burst);
  if (bytes <= kLimitSettingsBytes) return;
  const auto by = static_cast<std::uint8_t>(settings.group.by);
  const bool in_push_order = settings.group_order == GroupOrder::push;
  to.u8(static_cast<std::uint8_t>(by + (in_push_order ? kPushOrder : 0)));
  to.u8(static_cast<std::uint8_t>(settings.group.header.size()));
  to.u16(static_cast<std::uint16_t>(settings.history));
  to.u32(settings.group_max_leased);
  to.bytes(settings.group.header);
}

/// `bytes`: how many bytes of the record are settings. False if that number is wrong, or if a rule
/// or the objective has no such value.
[[nodiscard]] inline bool read_settings(base::ByteReader& in, std::size_t bytes,
                                        QueueSettings& settings) {
  bool good = bytes == kPlainSettingsBytes || bytes == kObjectiveSettingsBytes ||
              bytes == kExpirySettingsBytes || bytes == kLimitSettingsBytes ||
              (bytes >= kGroupSettingsBytes && bytes <= kSettingsBytes);
  core::each_setting_of<core::DurationSetting>([&](const auto& row) {
    std::int64_t ms = 0;
    good = good && in.i64(ms);
    settings.*row.value = Millis(ms);
  });
  core::each_setting_of<core::CountSetting>(
      [&](const auto& row) { good = good && in.u32(settings.*row.value); });
  core::each_setting_of<core::RuleSetting>([&](const auto& row) {
    std::uint32_t rule = 0;
    good = good && in.u32(rule) && rule <= static_cast<std::uint32_t>(IfExists::later);
    if (good) settings.*row.value = static_cast<IfExists>(rule);
  });
  if (bytes > kPlainSettingsBytes) {
    std::uint64_t number = 0;
    good = good && in.u64(number);
    settings.objective = core::objective_of(number);
    good = good && (number != 0 || bytes > kObjectiveSettingsBytes);
    good = good && (number == 0 || core::is_objective(settings.objective));
  }
  if (bytes > kObjectiveSettingsBytes) {
    std::int64_t expire = 0;
    std::uint32_t rule = 0;
    good = good && in.i64(expire) && in.u32(rule) &&
           rule <= static_cast<std::uint32_t>(OnExpiry::dead);
    settings.expire = Millis(expire);
    if (good) settings.on_expiry = static_cast<OnExpiry>(rule);
  }
  if (bytes > kExpirySettingsBytes) {
    std::int64_t per = 0;
    good = good && in.u32(settings.max_leased) && in.u32(settings.rate.count) && in.i64(per) &&
           in.u32(settings.rate.burst);
    settings.rate.per = Millis(per);
    good = good && core::is_delivery_rate(settings.rate);
  }
  if (bytes > kLimitSettingsBytes) {
    std::uint8_t number = 0;
    std::uint8_t header_bytes = 0;
    std::uint16_t history = 0;
    std::string_view header;
    good = good && in.u8(number) && in.u8(header_bytes) &&
           bytes == kGroupSettingsBytes + header_bytes && in.u16(history) &&
           history <= core::kMaxHistory && in.u32(settings.group_max_leased) &&
           in.bytes(bytes - kGroupSettingsBytes, header);
    const bool in_push_order = number >= kPushOrder;
    const std::uint8_t by = in_push_order ? number - kPushOrder : number;
    good = good && by <= static_cast<std::uint8_t>(Grouping::By::header);
    if (good) settings.group = {static_cast<Grouping::By>(by), std::string(header)};
    if (in_push_order) settings.group_order = GroupOrder::push;
    settings.history = history;
    good = good && core::is_grouping(settings.group);
  }
  return good && settings_bytes(settings) == bytes;
}

}  // namespace tarry::embedded
