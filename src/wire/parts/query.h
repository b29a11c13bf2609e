// Reads the query of a URL strictly: NAME=VALUE pairs, percent-encoded, where '+' is a space as in
// forms. A name that occurs twice, or is unknown, is refused.
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
#include <tarry/time.h>

#include "core/rules/validation.h"

namespace tarry::wire {

using core::MaybeError;

/// Encodes every byte except A-Z a-z 0-9 - . _ ~ as %XX.
[[nodiscard]] std::string percent_encode(std::string_view bytes);
/// Errors: invalid_argument for a '%' without two hexadecimal digits after it.
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

/// Works like Fields: a getter returns nothing if the parameter is absent or wrong, and `finish`
/// must be called last.
class Query {
 public:
  [[nodiscard]] static Result<Query> parse(std::string_view text);

  std::optional<std::string> text(std::string_view name);
  /// NAME, or NAME_base64.
  std::optional<std::string> bytes(std::string_view name, std::string_view name_base64);
  std::optional<std::uint64_t> number(std::string_view name, std::uint64_t min, std::uint64_t max);
  /// Any 32-bit number. As in Fields, `least` and `most` only appear in the error.
  std::optional<std::uint32_t> u32(std::string_view name, std::uint64_t least, std::uint64_t most);
  /// NAME is a time in RFC 3339, NAME_ms the milliseconds since 1970.
  std::optional<Time> moment(std::string_view name, std::string_view name_ms);
  /// The parameter is true or false; if it is absent, false.
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
