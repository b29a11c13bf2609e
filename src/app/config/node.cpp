#include "app/config/node.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <algorithm>
#include <tuple>

#include <fmt/format.h>

#include "app/output/printable.h"

namespace tarry::app::config {
namespace {

// Recursive; the parser has limited the depth.
Node node_of(const toml::node& value) {
  Node node;
  node.line = value.source().begin.line;
  switch (value.type()) {
    case toml::node_type::table:
      for (const auto& [key, member] : *value.as_table()) {
        node.members.push_back(node_of(member));
        node.members.back().key = key.str();
        // A table that [a.b] makes implicitly has no line of its own; it gets the line of its key.
        if (node.members.back().line == 0) node.members.back().line = key.source().begin.line;
      }
      std::ranges::sort(node.members, {},
                        [](const Node& member) { return std::tie(member.line, member.key); });
      break;
    case toml::node_type::array:
      node.kind = Node::Kind::array;
      for (const toml::node& item : *value.as_array()) node.members.push_back(node_of(item));
      break;
    case toml::node_type::string:
      node.kind = Node::Kind::text;
      node.text = value.as_string()->get();
      break;
    case toml::node_type::integer:
      node.kind = Node::Kind::integer;
      node.integer = value.as_integer()->get();
      break;
    case toml::node_type::boolean:
      node.kind = Node::Kind::boolean;
      node.integer = value.as_boolean()->get() ? 1 : 0;
      break;
    case toml::node_type::floating_point: node.kind = Node::Kind::decimal; break;
    default: node.kind = Node::Kind::time; break;
  }
  return node;
}

}  // namespace

std::string_view name_of(Node::Kind kind) noexcept {
  switch (kind) {
    case Node::Kind::table: return "a section";
    case Node::Kind::array: return "a list";
    case Node::Kind::text: return "a text";
    case Node::Kind::integer: return "a whole number";
    case Node::Kind::decimal: return "a number with a fraction";
    case Node::Kind::boolean: return "true or false";
    case Node::Kind::time: return "a date or time";
  }
  return "nothing known";
}

Result<Node> parse_toml(std::string_view text, const std::string& name) {
  const toml::parse_result parsed = toml::parse(text, name);
  if (parsed) return node_of(parsed.table());
  const toml::parse_error& error = parsed.error();
  return Error{ErrorCode::invalid_argument,
               fmt::format("{}:{}: {}", printable(name), error.source().begin.line,
                           printable(error.description()))};
}

}  // namespace tarry::app::config
