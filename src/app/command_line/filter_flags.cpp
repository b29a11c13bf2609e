#include "app/command_line/filter_flags.h"

#include <utility>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "base/text/text.h"
#include "core/rules/time_number.h"

namespace tarry::app {
namespace {

Unexpected not_a_filter(std::string message) {
  return Unexpected(ErrorCode::invalid_argument, std::move(message));
}

const std::vector<std::string_view>& names_of_states(bool with_remembered) {
  static const std::vector<std::string_view> kHeld{
      to_string(State::scheduled), to_string(State::ready), to_string(State::leased),
      to_string(State::dead)};
  static const std::vector<std::string_view> kAll{
      to_string(State::scheduled), to_string(State::ready), to_string(State::leased),
      to_string(State::dead), to_string(State::remembered)};
  return with_remembered ? kAll : kHeld;
}

Result<std::optional<Time>> one_end(std::string_view text) {
  if (text.empty()) return std::optional<Time>();
  const auto ms = core::parse_time_ms(text);
  if (!ms) return not_a_filter("--due-between: " + ms.error().message);
  return std::optional(Time(Millis(*ms)));
}

}  // namespace

void add_filter(CLI::App& command, FilterFlags& into) {
  add_word(command, "--prefix", into.prefix, "Only keys that begin with TEXT");
  add_word(command, "--due-between", into.due_between,
           "Only messages due at FROM or later, and before TO; one may\n"
           "be left out: FROM, or ,TO")
      ->type_name("FROM,TO");
  add_words(command, "--header", into.headers, "Only messages with this header; may be repeated")
      ->type_name("NAME=VALUE");
  add_word(command, "--reason", into.reason,
           "Only dead messages whose reason matches: * is any text,\n"
           "? is one byte")
      ->type_name("GLOB");
}

void add_state(CLI::App& command, FilterFlags& into, bool with_remembered) {
  add_choice(command, "--state", into.state, names_of_states(with_remembered),
             "Only messages in this state");
}

Result<void> parse_due_between(std::string_view text, core::MessageFilter& into) {
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos || text == ",") {
    return not_a_filter(
        fmt::format("--due-between {} must be FROM,TO: two times; one of them may be left out",
                    base::quoted(text)));
  }
  const auto from = one_end(text.substr(0, comma));
  if (!from) return from.error();
  const auto to = one_end(text.substr(comma + 1));
  if (!to) return to.error();
  if (*from && *to && **from >= **to) {
    return not_a_filter(fmt::format("--due-between {}: the first time must be before the second",
                                    base::quoted(text)));
  }
  into.due_from = *from;
  into.due_to = *to;
  return {};
}

Result<core::MessageFilter> filter_of(const FilterFlags& flags) {
  core::MessageFilter filter;
  filter.prefix = flags.prefix.value_or("");
  if (flags.due_between) {
    if (auto good = parse_due_between(*flags.due_between, filter); !good) return good.error();
  }
  for (const std::string& word : flags.headers) {
    const std::size_t equals = word.find('=');
    if (equals == 0 || equals == std::string::npos) {
      return not_a_filter(fmt::format("--header {} must be NAME=VALUE", base::quoted(word)));
    }
    filter.headers.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  if (flags.reason) {
    if (flags.reason->empty()) return not_a_filter("--reason is empty; to match any reason, use *");
    filter.reason = *flags.reason;
  }
  return filter;
}

std::optional<State> state_of(const FilterFlags& flags) {
  for (const State state :
       {State::scheduled, State::ready, State::leased, State::dead, State::remembered}) {
    if (flags.state == to_string(state)) return state;
  }
  return std::nullopt;
}

}  // namespace tarry::app
