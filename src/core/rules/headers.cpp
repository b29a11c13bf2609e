#include "core/rules/headers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "core/header_fields.h"
#include "core/rules/validation.h"

namespace tarry::core {
namespace {

constexpr std::size_t kMaxName = 255;

bool is_token_byte(char c) noexcept {
  constexpr std::string_view kSeparators = "\"(),/:;<=>?@[\\]{}";
  return c > ' ' && c < '\x7f' && kSeparators.find(c) == std::string_view::npos;
}

}  // namespace

Result<std::string> encode_headers(const Headers& headers) {
  std::size_t total = 0;
  for (const Header& header : headers) total += header.name.size() + header.value.size();
  if (auto error = check_headers_size(headers.size(), total)) return std::move(*error);
  std::string out;
  for (const Header& header : headers) {
    if (header.name.empty() || header.name.size() > kMaxName ||
        !std::all_of(header.name.begin(), header.name.end(), is_token_byte)) {
      return Unexpected(ErrorCode::invalid_argument,
                        "header name " + base::quoted(header.name) +
                            " must be 1 to 255 letters, digits or any of !#$%&'*+-.^_`|~");
    }
    base::ByteWriter writer(out);
    writer.u16(static_cast<std::uint16_t>(header.name.size()));
    writer.bytes(header.name);
    writer.u16(static_cast<std::uint16_t>(header.value.size()));
    writer.bytes(header.value);
  }
  return out;
}

Result<Headers> decode_headers(std::string_view encoded) {
  Headers headers;
  HeaderFields fields(encoded);
  while (fields.next()) {
    headers.push_back({std::string(fields.name()), std::string(fields.value())});
  }
  if (fields.is_damaged()) {
    return Unexpected(ErrorCode::damaged, "headers end in the middle of a field");
  }
  return headers;
}

std::size_t count_headers(std::string_view encoded) noexcept {
  HeaderFields fields(encoded);
  std::size_t count = 0;
  while (fields.next()) ++count;
  return count;
}

std::optional<std::string_view> find_header(std::string_view encoded,
                                            std::string_view name) noexcept {
  HeaderFields fields(encoded);
  while (fields.next()) {
    if (base::equals_ignoring_case(fields.name(), name)) return fields.value();
  }
  return std::nullopt;
}

}  // namespace tarry::core
