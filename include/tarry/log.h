// Log: the events that a store reports to its operator. Set the `log` of the options of `open`.
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
  info,     ///< nothing to do: an earlier event is over, or work continues
  warning,  ///< look into it when you have time: something is late, or was left out
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

/// One event. The views are valid until the log function returns.
struct LogEntry {
  LogLevel level = LogLevel::info;
  /// The event's name, for filters and alerts, for example "shard_stopped". It is the same in every
  /// version. docs/reference/log.md lists them.
  std::string_view code = {};
  std::string_view text = {};  ///< the event for people, with the details: one line

  /// Lets a function that takes a line of text serve as a log.
  operator std::string_view() const noexcept { return text; }  // NOLINT: implicit on purpose
};

using Log = std::function<void(const LogEntry&)>;

}  // namespace tarry
