#include "core/rules/message_filter.h"

#include <algorithm>
#include <cstddef>

namespace tarry::core {
namespace {

bool has_header(const MessageInfo& message, const Header& wanted) noexcept {
  return std::ranges::any_of(message.headers, [&](const Header& header) {
    return header.name == wanted.name && header.value == wanted.value;
  });
}

}  // namespace

bool matches(const MessageFilter& filter, const MessageInfo& message) noexcept {
  if (!message.key.starts_with(filter.prefix)) return false;
  if (filter.due_from && message.due < *filter.due_from) return false;
  if (filter.due_to && message.due >= *filter.due_to) return false;
  if (!filter.reason.empty() && !matches_glob(filter.reason, message.reason)) return false;
  return std::ranges::all_of(filter.headers,
                             [&](const Header& wanted) { return has_header(message, wanted); });
}

bool matches_glob(std::string_view pattern, std::string_view text) noexcept {
  constexpr std::size_t kNone = std::string_view::npos;
  std::size_t at = 0;        // in the pattern
  std::size_t star = kNone;  // the last `*` that was met
  std::size_t from = 0;      // in the text: the place where the pattern after that `*` is tried
  for (std::size_t i = 0; i < text.size();) {
    if (at < pattern.size() && pattern[at] == '*') {
      star = at++;
      from = i;
    } else if (at < pattern.size() && (pattern[at] == '?' || pattern[at] == text[i])) {
      ++at;
      ++i;
    } else if (star != kNone) {
      at = star + 1;  // let the `*` take one byte more
      i = ++from;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', at) == kNone;
}

}  // namespace tarry::core
