// Durations, times, sizes and numbers as people type them: a value that is read is within the
// limits, and reading its printed form gives it again. A refusal names the text in one line.
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "base/text/text.h"
#include "fuzz/input.h"

namespace tarry::fuzz {
namespace {

void check_line(const Error& error) {
  TARRY_ASSERT(error.code == ErrorCode::invalid_argument);
  TARRY_ASSERT(!error.message.empty() && error.message.size() < 1024);
  TARRY_ASSERT(error.message.find('\n') == std::string::npos);
  TARRY_ASSERT(base::is_valid_utf8(error.message));
}

void check_duration(std::string_view text) {
  const auto ms = base::parse_duration_ms(text);
  if (!ms) return check_line(ms.error());
  TARRY_ASSERT(*ms >= 0 && *ms <= base::kMaxDurationMs);
  const auto again = base::parse_duration_ms(base::format_duration_ms(*ms));
  TARRY_ASSERT(again && *again == *ms);
}

void check_time(std::string_view text) {
  const auto ms = base::parse_time_ms(text);
  if (!ms) return check_line(ms.error());
  TARRY_ASSERT(*ms >= 0 && *ms <= base::kMaxTimeMs);
  const auto again = base::parse_time_ms(base::format_time_ms(*ms));
  TARRY_ASSERT(again && *again == *ms);
}

void check_numbers(std::string_view text) {
  if (const auto size = base::parse_size(text); !size) check_line(size.error());
  const auto number = base::parse_u64(text, "n", 3, UINT64_MAX - 3);
  if (!number) return check_line(number.error());
  TARRY_ASSERT(*number >= 3 && *number <= UINT64_MAX - 3);
  const auto again = base::parse_u64(std::to_string(*number), "n", *number, *number);
  TARRY_ASSERT(again && *again == *number);
}

void check_quoted(std::string_view text) {
  const std::string shown = base::quoted(text);
  TARRY_ASSERT(shown.size() >= 2 && shown.size() < 1024 && base::is_valid_utf8(shown));
  for (const char c : shown) TARRY_ASSERT(static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
}

// Any moment at all has a text; a program that prints a damaged one must not fall over.
void check_formats(Input input) {
  const auto any = static_cast<std::int64_t>(input.u64());
  TARRY_ASSERT(!base::format_time_ms(any).empty());
  const std::int64_t some = any & ((std::int64_t{1} << 42) - 1);
  const std::int64_t ms = some > base::kMaxDurationMs ? base::kMaxDurationMs : some;
  check_duration(base::format_duration_ms(ms));
  check_time(base::format_time_ms(ms));
}

}  // namespace
}  // namespace tarry::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const tarry::fuzz::Input input(data, size);
  tarry::fuzz::check_duration(input.rest());
  tarry::fuzz::check_time(input.rest());
  tarry::fuzz::check_numbers(input.rest());
  tarry::fuzz::check_quoted(input.rest());
  tarry::fuzz::check_formats(input);
  return 0;
}
