// The lines of an export. Each is a JSON object.
//
//   {"tarry_export":2}
//   {"queue":"orders","settings":{...,"lease_ms":30000,...},"paused":false}       queues come first
//   {"message":{"queue","key","state","due","due_ms","priority","attempt","max_attempts","tallies",
//               "pushed","pushed_ms","reason","headers","payload"}}
//   {"end":true,"messages":2}       without it the file was cut off
//
// Version 1 has no push times. A field whose bytes are not UTF-8 is called NAME_base64 instead.
// Unknown fields are refused, as over HTTP.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/settings.h>

#include "app/transfer/queue_hold.h"

namespace tarry::app::transfer {

/// The newest version of an export. All versions can be read.
inline constexpr std::uint32_t kExportVersion = 2;
/// Since this version, a message may say when it was pushed.
inline constexpr std::uint32_t kPushTimeExport = 2;

struct HeadLine {
  std::uint32_t version = kExportVersion;
};
struct QueueLine {
  std::string queue;
  QueueSettings settings;
  PauseState pause;
};
struct MessageLine {
  MessageInfo message;
};
struct EndLine {
  std::uint64_t messages = 0;
};
using Line = std::variant<HeadLine, QueueLine, MessageLine, EndLine>;

/// Returns the line without a newline.
[[nodiscard]] std::string write_line(const Line& line);

/// Errors: `invalid_argument`; `unsupported` for the head of a later version.
[[nodiscard]] Result<Line> read_line(std::string_view text);

}  // namespace tarry::app::transfer
