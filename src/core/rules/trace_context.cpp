#include "core/rules/trace_context.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/text/ascii.h"
#include "core/limits.h"
#include "core/rules/headers.h"
#include "core/rules/validation.h"

namespace tarry::core {
namespace {

// 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
constexpr std::size_t kTraceId = 3;
constexpr std::size_t kTraceIdSize = 32;
constexpr std::size_t kParentId = kTraceId + kTraceIdSize + 1;
constexpr std::size_t kParentIdSize = 16;
constexpr std::size_t kFlags = kParentId + kParentIdSize + 1;
constexpr std::size_t kParentSize = kFlags + 2;

bool is_lower_hex(char c) noexcept { return base::is_digit(c) || (c >= 'a' && c <= 'f'); }

bool is_hex(std::string_view text) noexcept { return std::ranges::all_of(text, is_lower_hex); }

bool is_id(std::string_view text) noexcept {
  return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

bool is_parent(std::string_view text) noexcept {
  if (text.size() < kParentSize) return false;
  const std::string_view version = text.substr(0, 2);
  if (!is_hex(version) || version == "ff") return false;
  // A later version may have more fields.
  const bool has_more = text.size() > kParentSize;
  if (has_more && (version == "00" || text[kParentSize] != '-')) return false;
  return text[kTraceId - 1] == '-' && is_id(text.substr(kTraceId, kTraceIdSize)) &&
         text[kParentId - 1] == '-' && is_id(text.substr(kParentId, kParentIdSize)) &&
         text[kFlags - 1] == '-' && is_hex(text.substr(kFlags, 2));
}

// Version 00 knows one flag, which is the last bit: the sender may have recorded the trace.
bool is_sampled(char last_digit) noexcept {
  constexpr std::string_view kOdd = "13579bdf";
  return kOdd.find(last_digit) != std::string_view::npos;
}

bool is_state(std::string_view text) noexcept {
  return !text.empty() && text.size() <= kMaxTracestate &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

/// The two headers, encoded, and what they count against the limit of headers.
struct Added {
  std::string encoded;
  std::size_t count = 0;
  std::size_t size = 0;
};

Added encode_added(const TraceContext& trace, bool with_state) {
  Headers headers{{std::string(kTraceparent), trace.parent}};
  if (with_state) headers.push_back({std::string(kTracestate), trace.state});
  Added added;
  added.count = headers.size();
  for (const Header& header : headers) added.size += header.name.size() + header.value.size();
  added.encoded = encode_headers(headers).value_or("");
  return added;
}

// An encoded header has two bytes of length for its name, and two for its value.
bool fits(std::string_view encoded, const Added& added) noexcept {
  const std::size_t count = count_headers(encoded);
  const std::size_t size = encoded.size() - std::min(encoded.size(), 4 * count);
  return !check_headers_size(count + added.count, size + added.size);
}

std::uint64_t bytes_of(const PushRequest& request) noexcept {
  std::uint64_t bytes = 0;
  for (const PushItem& item : request.items) {
    bytes += std::uint64_t{item.key.size} + item.payload.size + item.headers.size;
  }
  return bytes;
}

}  // namespace

TraceContext read_trace(std::string_view parent, std::string_view state) {
  TraceContext trace;
  const std::string field(base::trimmed(parent));
  if (!is_parent(field)) return trace;
  trace.parent = field.substr(0, kParentSize);
  if (!field.starts_with("00")) {
    trace.parent.replace(0, 2, "00");
    trace.parent.replace(kFlags, 2, is_sampled(field[kFlags + 1]) ? "01" : "00");
  }
  trace.state = base::trimmed(state);
  if (!is_state(trace.state)) trace.state.clear();
  return trace;
}

void add_trace(PushRequest& request, const TraceContext& trace) {
  if (trace.parent.empty()) return;
  const Added parent = encode_added(trace, false);
  const Added both = trace.state.empty() ? parent : encode_added(trace, true);
  const std::uint64_t most = bytes_of(request) + request.items.size() * both.encoded.size();
  if (most > kMaxBatchBytes) return;
  std::optional<Slice> alone;  // for all messages that have no headers of their own
  for (PushItem& item : request.items) {
    if (item.headers.size == 0) {
      if (!alone) alone = append(request.bytes, both.encoded);
      item.headers = *alone;
      continue;
    }
    const std::string own(view(request.bytes, item.headers));
    if (find_header(own, kTraceparent)) continue;
    const bool has_state = find_header(own, kTracestate).has_value();
    const Added& wanted = has_state || !fits(own, both) ? parent : both;
    if (fits(own, wanted)) item.headers = append(request.bytes, own + wanted.encoded);
  }
}

}  // namespace tarry::core
