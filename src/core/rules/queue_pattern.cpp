#include "core/rules/queue_pattern.h"

#include <algorithm>
#include <string>

#include "base/text/text.h"
#include "core/rules/validation.h"

namespace tarry::core {

std::optional<Error> check_queue_pattern(std::string_view pattern) {
  if (pattern == "*") return std::nullopt;
  const std::string_view name = beginning_of(pattern);
  if (name.find('*') != std::string_view::npos) {
    return Error{ErrorCode::invalid_argument,
                 "pattern " + base::quoted(pattern) + " may have a * at its end only"};
  }
  auto error = check_queue_name(name);
  if (!error && !is_beginning(pattern)) error = check_new_queue(name);
  if (error && is_beginning(pattern)) {
    error->message = "pattern " + base::quoted(pattern) + ": " + error->message;
  }
  return error;
}

bool is_beginning(std::string_view pattern) noexcept { return pattern.ends_with('*'); }

std::string_view beginning_of(std::string_view pattern) noexcept {
  if (is_beginning(pattern)) pattern.remove_suffix(1);
  return pattern;
}

bool matches(std::string_view pattern, std::string_view queue) noexcept {
  return is_beginning(pattern) ? queue.starts_with(beginning_of(pattern)) : queue == pattern;
}

bool matches_any(const std::vector<std::string>& patterns, std::string_view queue) noexcept {
  return std::ranges::any_of(
      patterns, [queue](const std::string& pattern) { return matches(pattern, queue); });
}

bool allows(const OnlyQueues& only, std::string_view queue) noexcept {
  return only == nullptr || matches_any(*only, queue);
}

bool covers(std::string_view wide, std::string_view narrow) noexcept {
  if (!is_beginning(wide)) return wide == narrow;
  return beginning_of(narrow).starts_with(beginning_of(wide));
}

bool overlap(std::string_view a, std::string_view b) noexcept {
  if (!is_beginning(a)) return matches(b, a);
  if (!is_beginning(b)) return matches(a, b);
  return beginning_of(a).starts_with(beginning_of(b)) ||
         beginning_of(b).starts_with(beginning_of(a));
}

}  // namespace tarry::core
