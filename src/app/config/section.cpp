#include "app/config/section.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/output/printable.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace tarry::app::config {
namespace {

bool is_bare(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

}  // namespace

void Problems::add(std::uint64_t line, std::string_view what) { found_.emplace(line, what); }

std::vector<std::string> Problems::lines() const {
  std::vector<std::string> lines;
  for (const auto& [line, what] : found_) {
    lines.push_back(fmt::format("{}:{}: {}", printable(file_), line, what));
  }
  return lines;
}

Section::Section(const Node& table, std::string path, Problems& problems)
    : table_(&table), path_(std::move(path)), problems_(&problems) {}

std::string Section::full(std::string_view key) const {
  std::string name = is_bare(key) ? std::string(key) : base::quoted(key);
  return path_.empty() ? name : path_ + "." + name;
}

const Node* Section::find(std::string_view key) {
  asked_.emplace_back(key);
  const auto member = std::ranges::find(table_->members, key, &Node::key);
  return member == table_->members.end() ? nullptr : &*member;
}

const Node* Section::find(std::string_view key, Node::Kind kind, std::string_view example) {
  const Node* node = find(key);
  if (node == nullptr || node->kind == kind) return node;
  const std::string what = fmt::format("{} must be {}{}, not {}", full(key), name_of(kind), example,
                                       name_of(node->kind));
  problems_->add(node->line, what);
  return nullptr;
}

void Section::fail(std::string_view key, std::string_view what) {
  const auto member = std::ranges::find(table_->members, key, &Node::key);
  problems_->add(member == table_->members.end() ? table_->line : member->line,
                 fmt::format("{}: {}", key.empty() ? path_ : full(key), what));
}

std::uint64_t Section::line_of(std::string_view key) const {
  const auto member = std::ranges::find(table_->members, key, &Node::key);
  return member == table_->members.end() ? table_->line : member->line;
}

std::optional<std::string> Section::text(std::string_view key) {
  const Node* node = find(key, Node::Kind::text, "");
  if (node == nullptr) return std::nullopt;
  if (node->text.empty()) {
    fail(key, "must not be empty");
    return std::nullopt;
  }
  return node->text;
}

std::optional<std::string> Section::choice(std::string_view key,
                                           const std::vector<std::string_view>& choices) {
  const Node* node = find(key, Node::Kind::text, "");
  if (node == nullptr) return std::nullopt;
  if (const auto known = check_choice(node->text, choices); !known) {
    fail(key, known.error().message);
    return std::nullopt;
  }
  return node->text;
}

std::optional<bool> Section::boolean(std::string_view key) {
  const Node* node = find(key, Node::Kind::boolean, "");
  if (node == nullptr) return std::nullopt;
  return node->integer != 0;
}

std::optional<std::uint64_t> Section::count(std::string_view key, std::uint64_t min,
                                            std::uint64_t max) {
  const Node* node = find(key, Node::Kind::integer, "");
  if (node == nullptr) return std::nullopt;
  if (node->integer >= 0) {
    const auto value = static_cast<std::uint64_t>(node->integer);
    if (value >= min && value <= max) return value;
  }
  fail(key, fmt::format("{} is not from {} to {}", node->integer, min, max));
  return std::nullopt;
}

std::optional<std::uint64_t> Section::count_or_none(std::string_view key, std::uint64_t max) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  if (node->kind == Node::Kind::text && node->text == "none") return 0;
  if (node->kind == Node::Kind::integer && node->integer >= 1 &&
      static_cast<std::uint64_t>(node->integer) <= max) {
    return static_cast<std::uint64_t>(node->integer);
  }
  const std::string given = node->kind == Node::Kind::integer ? std::to_string(node->integer)
                            : node->kind == Node::Kind::text  ? base::quoted(node->text)
                                                              : std::string(name_of(node->kind));
  fail(key, fmt::format("{} is not from 1 to {}, or \"none\"", given, max));
  return std::nullopt;
}

std::optional<std::uint64_t> Section::size(std::string_view key, std::uint64_t min,
                                           std::uint64_t max) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  std::string text = node->text;
  if (node->kind == Node::Kind::integer) text = std::to_string(node->integer);
  if (node->kind != Node::Kind::integer && node->kind != Node::Kind::text) {
    problems_->add(node->line, fmt::format("{} must be a size as \"64MiB\", or bytes, not {}",
                                           full(key), name_of(node->kind)));
    return std::nullopt;
  }
  const auto value = base::parse_size(text);
  if (!value) {
    fail(key, value.error().message);
  } else if (*value < min || *value > max) {
    fail(key, fmt::format("{} is not from {} to {} bytes", text, min, max));
  } else {
    return *value;
  }
  return std::nullopt;
}

std::optional<Millis> Section::duration(std::string_view key, Millis min, Millis max) {
  const Node* node = find(key, Node::Kind::text, ", a duration as \"30s\"");
  if (node == nullptr) return std::nullopt;
  const auto value = base::parse_duration_ms(node->text);
  if (!value) {
    fail(key, value.error().message);
  } else if (*value < min.count() || *value > max.count()) {
    fail(key,
         fmt::format("{} is not from {} to {}", base::quoted(node->text),
                     base::format_duration_ms(min.count()), base::format_duration_ms(max.count())));
  } else {
    return Millis(*value);
  }
  return std::nullopt;
}

std::optional<std::vector<std::string>> Section::texts(std::string_view key) {
  const Node* node = find(key, Node::Kind::array, " of texts");
  if (node == nullptr) return std::nullopt;
  std::vector<std::string> found;
  for (const Node& item : node->members) {
    if (item.kind != Node::Kind::text || item.text.empty()) {
      problems_->add(item.line, fmt::format("{} must be a list of texts, and holds {}", full(key),
                                            item.kind == Node::Kind::text ? "an empty one"
                                                                          : name_of(item.kind)));
      return std::nullopt;
    }
    found.push_back(item.text);
  }
  return found;
}

std::optional<std::vector<std::string>> Section::one_or_more_texts(std::string_view key) {
  const Node* node = find(key);
  if (node == nullptr) return std::nullopt;
  std::optional<std::vector<std::string>> found;
  if (node->kind == Node::Kind::array) {
    found = texts(key);
    if (!found) return std::nullopt;
  } else if (auto one = text(key)) {
    found = std::vector{*std::move(one)};
  } else {
    return std::nullopt;
  }
  if (found->empty()) {
    fail(key, "must not be empty");
    return std::nullopt;
  }
  for (const std::string& each : *found) {
    if (each.find(',') == std::string::npos) continue;
    fail(key, fmt::format("{} must not contain a comma", base::quoted(each)));
    return std::nullopt;
  }
  return found;
}

std::vector<std::pair<std::string, std::string>> Section::named_texts(std::string_view key) {
  std::vector<std::pair<std::string, std::string>> found;
  const Node* node = find(key, Node::Kind::table, " of texts");
  if (node == nullptr) return found;
  Section table(*node, full(key), *problems_);
  for (const Node& member : node->members) {
    const Node* text = table.find(member.key, Node::Kind::text, "");
    if (text != nullptr) found.emplace_back(member.key, text->text);
  }
  return found;
}

std::optional<Section> Section::section(std::string_view key) {
  const Node* node = find(key, Node::Kind::table, "");
  if (node == nullptr) return std::nullopt;
  return Section(*node, full(key), *problems_);
}

std::vector<Section> Section::sections(std::string_view key) {
  std::vector<Section> found;
  const Node* node = find(key, Node::Kind::array, " of sections, [[" + full(key) + "]]");
  if (node == nullptr) return found;
  for (const Node& item : node->members) {
    if (item.kind == Node::Kind::table) {
      found.emplace_back(item, full(key), *problems_);
    } else {
      problems_->add(item.line, fmt::format("{} must be a list of sections, [[{}]], and holds {}",
                                            full(key), full(key), name_of(item.kind)));
    }
  }
  return found;
}

std::vector<std::pair<std::string, Section>> Section::named_sections(std::string_view key) {
  std::vector<std::pair<std::string, Section>> found;
  const Node* node = find(key, Node::Kind::table, "");
  if (node == nullptr) return found;
  Section outer(*node, full(key), *problems_);
  for (const Node& member : node->members) {
    if (auto inner = outer.section(member.key)) found.emplace_back(member.key, std::move(*inner));
  }
  return found;
}

void Section::finish() {
  const std::vector<std::string_view> known(asked_.begin(), asked_.end());
  for (const Node& node : table_->members) {
    if (std::ranges::find(asked_, node.key) != asked_.end()) continue;
    std::string what =
        fmt::format("unknown {} {}", node.kind == Node::Kind::table ? "section" : "key",
                    base::quoted(node.key));
    if (!path_.empty()) what += fmt::format(" in [{}]", path_);
    const std::string meant = base::did_you_mean(node.key, known);
    what += meant.empty() ? fmt::format("; known are {}", fmt::join(known, ", ")) : meant;
    problems_->add(node.line, what);
  }
}

Result<void> check_choice(std::string_view word, const std::vector<std::string_view>& choices) {
  if (std::ranges::find(choices, word) != choices.end()) return {};
  return Error{ErrorCode::invalid_argument,
               fmt::format("{} is none of {}{}", base::quoted(word), fmt::join(choices, ", "),
                           base::did_you_mean(word, choices))};
}

}  // namespace tarry::app::config
