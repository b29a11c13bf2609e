// Log: what a store tells its operator, by the `log` of the options it is opened with.
//
//   options.log = [](const tarry::LogEntry& entry) {
//     my_logger.write(to_string(entry.level), entry.code, entry.text);
//   };
//
// Plain values; no thread safety of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string_view>

namespace tarry {

enum class LogLevel : std::uint8_t {
  info,     ///< nothing to do: what was told before is over, or something goes on
  warning,  ///< look into it when there is time: something is late, or was left out
  error,    ///< page someone: the store, or a message of it, is broken
};

/// "info", "warning", "error".
[[nodiscard]] constexpr std::string_view to_string(LogLevel level) noexcept {
  switch (level) {
    case LogLevel::info: return "info";
    case LogLevel::warning: return "warning";
    case LogLevel::error: return "error";
  }
  return "unknown";
}
template <typename Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& out,
                                             LogLevel level) {
  return out << to_string(level);
}

/// One thing that happened. The views are good until the log returns.
struct LogEntry {
  LogLevel level = LogLevel::info;
  /// What happened, as a word that stays the same from version to version, to filter and to alert
  /// by: "shard_stopped". docs/reference/log.md lists them.
  std::string_view code = {};
  std::string_view text = {};  ///< the same for people, with the particulars: one line

  /// So that a function which takes a line will do as a log.
  operator std::string_view() const noexcept { return text; }  // NOLINT: implicit on purpose
};

using Log = std::function<void(const LogEntry&)>;

}  // namespace tarry
