// Node: one value of a configuration file, with its line number. Only `parse_toml` knows the file's
// format (TOML).
//
// Plain values. Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

namespace tarry::app::config {

struct Node {
  enum class Kind { table, array, text, integer, decimal, boolean, time };

  std::string key;  // its name in the enclosing table
  Kind kind = Kind::table;
  std::uint64_t line = 0;
  std::string text;           // text, in UTF-8
  std::int64_t integer = 0;   // integer; boolean: 0 or 1
  std::vector<Node> members;  // table in the file's order, array
};

/// "a text", "a whole number", ...: for messages.
[[nodiscard]] std::string_view name_of(Node::Kind kind) noexcept;

/// Reads a whole file; the result is a table. `name` is the file's name for errors (`NAME:LINE:
/// what`), which are always `invalid_argument`.
[[nodiscard]] Result<Node> parse_toml(std::string_view text, const std::string& name);

}  // namespace tarry::app::config
