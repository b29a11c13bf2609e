// A message's body as Redis keeps it, the value of its member in MSGS:
//
//   u8 flags, u32 CRC-32C of member, headers and payload, [6 bytes id], [u32 priority],
//   [u16 max_attempts], [expiry: 6 bytes moment, 6 bytes after], [3 bytes push time],
//   [u16 length, headers], payload
//
// A part in brackets is present if its flag is set; integers are little-endian, ids big-endian. A
// remembered message has a body of another form; this header reads it too. docs/formats/redis.md
// says why bodies are so short.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/message.h>

#include "core/rules/expiry.h"

namespace tarry::redis {

struct Body {
  std::uint64_t id = 0;  // 0: the member is the id
  std::uint32_t priority = kDefaultPriority;
  std::uint16_t max_attempts = 0;  // 0: the queue's
  // A push sends no moment of a relative expiry: the script adds it, when it knows the due time.
  core::Expiry expiry = {};
  // The push time, kept to the minute, rounded down. A time that does not fit into the field is not
  // kept. Empty: not known.
  std::optional<std::int64_t> pushed_ms = {};
  std::string_view headers = {};
  std::string_view payload = {};
  std::uint32_t crc = 0;
};

/// Appends everything before the payload. Computes the checksum; `body.crc` is not used.
void append_head(std::string& out, const Body& body, std::string_view member);

/// Nothing for bytes that are no body, or the body of a remembered message.
[[nodiscard]] std::optional<Body> read_body(std::string_view bytes) noexcept;
[[nodiscard]] bool is_sound(const Body& body, std::string_view member) noexcept;

struct Past {
  std::uint32_t attempt = 0;
  Tallies tallies;
};
inline constexpr std::size_t kPastSize = 24;
void append_past(std::string& out, const Past& past);
/// Returns an empty past if the bytes are too few.
[[nodiscard]] Past read_past(std::string_view bytes) noexcept;

/// The ending with this number in a remembered message's body; nothing if there is none.
[[nodiscard]] std::optional<Ending> ending_of(std::int64_t number) noexcept;

struct Remembered {
  Settlement settlement;
  std::int64_t due_ms = 0;
  std::uint32_t priority = kDefaultPriority;
  std::uint64_t id = 0;  // 0: the member is the id
  Past past;
};
/// Nothing for bytes that are not a remembered message's body.
[[nodiscard]] std::optional<Remembered> read_remembered(std::string_view bytes) noexcept;

/// The facts that follow a dead message's past.
struct DeadFacts {
  std::int64_t due_ms = 0;
  std::string_view reason;
};
[[nodiscard]] DeadFacts read_dead(std::string_view past_bytes) noexcept;

}  // namespace tarry::redis
