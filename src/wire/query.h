// The query of a URL, taken apart strictly: NAME=VALUE pairs, percent-encoded, where '+' is a space
// as in forms. A name that occurs twice or that nobody asked for is refused.
//
// Thread safety: plain values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "core/validation.h"

namespace tarry::wire {

using core::MaybeError;

/// Everything but A-Z a-z 0-9 - . _ ~ as %XX.
[[nodiscard]] std::string percent_encode(std::string_view bytes);
/// Errors: invalid_argument for a '%' that two hexadecimal digits do not follow.
[[nodiscard]] Result<std::string> percent_decode(std::string_view text);

/// Builds "?a=1&b=2".
class QueryWriter {
 public:
  explicit QueryWriter(std::string& out) noexcept : out_(out) {}
  QueryWriter& add(std::string_view name, std::string_view value);

 private:
  std::string& out_;
  bool any_ = false;
};

/// As Fields: getters answer nothing where the parameter is absent or wrong; `finish` comes last.
class Query {
 public:
  [[nodiscard]] static Result<Query> parse(std::string_view text);

  std::optional<std::string> text(std::string_view name);
  /// NAME, or NAME_base64.
  std::optional<std::string> bytes(std::string_view name, std::string_view name_base64);
  std::optional<std::uint64_t> number(std::string_view name, std::uint64_t min, std::uint64_t max);
  /// As Fields: whatever has 32 bits; `least` and `most` are what an error tells.
  std::optional<std::uint32_t> u32(std::string_view name, std::uint64_t least, std::uint64_t most);
  /// true or false; false where it is absent.
  bool flag(std::string_view name);
  void require(std::string_view name);
  void fail(Error error);
  [[nodiscard]] MaybeError finish() const;

 private:
  [[nodiscard]] const std::string* find(std::string_view name) const noexcept;

  std::vector<std::pair<std::string, std::string>> pairs_;
  std::vector<std::string_view> asked_;
  MaybeError error_;
};

}  // namespace tarry::wire
