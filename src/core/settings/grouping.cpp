#include "core/settings/grouping.h"

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "core/header_fields.h"
#include "core/limits.h"
#include "core/settings/rule_names.h"

namespace tarry::core {
namespace {

constexpr std::string_view kNoGrouping = "none";
constexpr std::string_view kByKey = "key";
constexpr std::string_view kByHeader = "header:";

bool is_header_name(std::string_view name) noexcept {
  if (name.empty() || name.size() > kMaxGroupHeader || !base::is_valid_utf8(name)) return false;
  for (const char c : name) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') return false;
  }
  return true;
}

// Empty if the key has no group.
GroupSpan in_key(std::string_view key) noexcept {
  const std::size_t open = key.find('{');
  if (open == std::string_view::npos) return {};
  const std::size_t close = key.find('}', open);
  if (close == std::string_view::npos) return {};
  return {static_cast<std::uint32_t>(open + 1), static_cast<std::uint32_t>(close - open - 1)};
}

// Of several headers with this name the first counts. The case of the name does not matter, as for
// all headers that tarry itself reads.
GroupSpan in_headers(std::string_view key, std::string_view headers, std::string_view wanted) {
  HeaderFields fields(headers);
  while (fields.next()) {
    if (!base::equals_ignoring_case(fields.name(), wanted)) continue;
    return {static_cast<std::uint32_t>(key.size() + fields.value_at()),
            static_cast<std::uint32_t>(fields.value().size())};
  }
  return {};
}

GroupSpan find_group(const Grouping& grouping, std::string_view key, std::string_view headers) {
  switch (grouping.by) {
    case Grouping::By::none: break;
    case Grouping::By::key: return in_key(key);
    case Grouping::By::header: return in_headers(key, headers, grouping.header);
  }
  return {};
}

Error no_group(const Grouping& grouping, std::string_view queue, std::string_view key) {
  const std::string whose = " of queue " + base::quoted(queue) + " is ";
  const std::string missing =
      grouping.by == Grouping::By::key
          ? (key.empty() ? "the push has no key"
                         : "the key " + base::quoted(key) + " has no {group}")
          : "the push has no header " + base::quoted(grouping.header);
  return {ErrorCode::invalid_argument,
          missing + ": the setting group" + whose + grouping_text(grouping)};
}

}  // namespace

Result<Grouping> parse_grouping(std::string_view text) {
  Grouping grouping;
  if (text == kNoGrouping) return grouping;
  if (text == kByKey) {
    grouping.by = Grouping::By::key;
    return grouping;
  }
  if (text.starts_with(kByHeader)) {
    grouping.by = Grouping::By::header;
    grouping.header = std::string(text.substr(kByHeader.size()));
    if (is_grouping(grouping)) return grouping;
    return Unexpected(ErrorCode::invalid_argument,
                      "group " + base::quoted(text) + ": a header's name must be from 1 to " +
                          std::to_string(kMaxGroupHeader) + " bytes of text");
  }
  return Unexpected(ErrorCode::invalid_argument,
                    "group " + base::quoted(text) + " must be key, header:NAME or none");
}

std::string grouping_text(const Grouping& grouping) {
  switch (grouping.by) {
    case Grouping::By::none: break;
    case Grouping::By::key: return std::string(kByKey);
    case Grouping::By::header: return std::string(kByHeader) + grouping.header;
  }
  return std::string(kNoGrouping);
}

bool is_grouping(const Grouping& grouping) noexcept {
  if (grouping.by == Grouping::By::header) return is_header_name(grouping.header);
  return grouping.by <= Grouping::By::header && grouping.header.empty();
}

const std::vector<std::string_view>& group_order_names() {
  static const std::vector<std::string_view> kNames = names_of(kEveryGroupOrder);
  return kNames;
}

std::optional<GroupOrder> group_order_from(std::string_view name) noexcept {
  return rule_named(name, kEveryGroupOrder);
}

bool is_group_span(const GroupSpan& span, std::size_t key, std::size_t headers) noexcept {
  if (!span.any()) return false;
  const std::size_t end = std::size_t{span.at} + span.size;
  return span.at < key ? end <= key : end <= key + headers;
}

std::string_view group_in(const GroupSpan& span, std::string_view key,
                          std::string_view headers) noexcept {
  return span.at < key.size() ? key.substr(span.at, span.size)
                              : headers.substr(span.at - key.size(), span.size);
}

Result<GroupSpan> group_of(const Grouping& grouping, std::string_view queue, std::string_view key,
                           std::string_view headers) {
  if (grouping.by == Grouping::By::none) return GroupSpan();
  const GroupSpan span = find_group(grouping, key, headers);
  if (!span.any()) return no_group(grouping, queue, key);
  if (span.size <= kMaxGroup) return span;
  return Unexpected(ErrorCode::invalid_argument,
                    "group " + base::quoted(group_in(span, key, headers)) +
                        " is over the limit of " + std::to_string(kMaxGroup) + " bytes");
}

GroupSpan moved_group(const Grouping& grouping, std::string_view key, std::string_view headers) {
  const GroupSpan span = find_group(grouping, key, headers);
  return span.size <= kMaxGroup ? span : GroupSpan();
}

}  // namespace tarry::core
