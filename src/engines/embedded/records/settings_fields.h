// A queue's settings as bytes of its record, as docs/formats/journal.md has them: durations, then
// counts, then rules, each kind in the order of the table. Size, writing and reading stand here
// together. A new setting needs a new version of the format.
//
// Thread safety: constants and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>

#include <tarry/settings.h>

#include "base/bytes.h"
#include "core/settings_table.h"

namespace tarry::embedded {

/// The most bytes that settings take.
inline constexpr std::size_t kSettingsBytes = core::settings_of<core::DurationSetting>() * 8 +
                                              core::settings_of<core::CountSetting>() * 4 +
                                              core::settings_of<core::RuleSetting>() * 4;

/// The size of the settings.
[[nodiscard]] inline std::size_t settings_bytes(const QueueSettings&) noexcept {
  return kSettingsBytes;
}

inline void write_settings(base::ByteFiller& to, const QueueSettings& settings) {
  core::each_setting_of<core::DurationSetting>(
      [&](const auto& row) { to.i64((settings.*row.value).count()); });
  core::each_setting_of<core::CountSetting>([&](const auto& row) { to.u32(settings.*row.value); });
  core::each_setting_of<core::RuleSetting>(
      [&](const auto& row) { to.u32(static_cast<std::uint32_t>(settings.*row.value)); });
}

/// `bytes`: how many bytes of the record are settings. False if that number is wrong, or if a rule
/// has no such value.
[[nodiscard]] inline bool read_settings(base::ByteReader& in, std::size_t bytes,
                                        QueueSettings& settings) {
  bool good = bytes == kSettingsBytes;
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
  return good;
}

}  // namespace tarry::embedded
