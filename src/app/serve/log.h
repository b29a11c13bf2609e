// Log: a server's messages to its operator on stderr, one line each, as text or as JSON.
//
//   2026-11-23T05:20:00.123+0000 warning the wall clock stepped by 2000 ms
//   {"time":"2026-11-23T05:20:00.123+0000","level":"warning","code":"clock_stepped","message":"…"}
//
// Invariants
//  1. A message is one line: control bytes in it are escaped.
//  2. No caller waits for the log's reader: lines that do not fit into the buffer are left out,
//     counted, and reported.
//  3. A request's line shows nothing of a message's payload or key; it shows its id, method and
//     route.
//
// Thread safety: all members may be called from any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/log.h>

#include "server/session_parts/request_log.h"
#include "wire/json/json_writer.h"

namespace tarry::app {

/// Writes the members of a ready line: `url`, the first address; `urls`, all of them, if there are
/// several; and `store`.
void write_ready(wire::JsonWriter& json, const std::vector<std::string>& urls,
                 std::string_view store);

class ServeLog {
 public:
  enum class Format { text, json };

  /// `level`: the lowest level that is written: debug, info, warning or error.
  ServeLog(std::string_view level, Format format);
  ~ServeLog();
  ServeLog(const ServeLog&) = delete;
  ServeLog& operator=(const ServeLog&) = delete;

  /// Logs an event from any part of the program, or from the store. docs/reference/log.md lists the
  /// codes.
  void tell(const LogEntry& entry);
  void info(std::string_view code, std::string_view line) { tell({LogLevel::info, code, line}); }
  void warning(std::string_view code, std::string_view line) {
    tell({LogLevel::warning, code, line});
  }
  void error(std::string_view code, std::string_view line) { tell({LogLevel::error, code, line}); }
  /// Logs a request at level debug or, if the server failed, as a warning with the reason.
  void request(const session::RequestNote& note);

  void set_level(std::string_view level);

  /// The line for stdout, newline included, that says that the server is ready. If the log is in
  /// JSON, the line is a JSON object.
  [[nodiscard]] std::string ready_line(const std::vector<std::string>& urls,
                                       std::string_view store) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::app
