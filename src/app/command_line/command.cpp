#include "app/command_line/command.h"

#include <utility>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "base/text/text.h"
#include "core/rules/expiry.h"
#include "core/rules/time_number.h"
#include "core/settings/delivery_rate.h"
#include "core/settings/grouping.h"
#include "core/settings/if_exists.h"
#include "core/settings/objective.h"
#include "core/settings/queue_limits.h"

namespace tarry::app {
namespace {

constexpr char kMark = '\x1f';

/// Whether the parser would misread the word: it splits `[a,b]`, and takes the next word as the
/// value of `--store=`. The same applies to a flag with such a value.
bool is_special(std::string_view word) {
  if (word.empty() || word == "--") return true;
  if (word.starts_with('[')) return word.ends_with(']');
  const std::size_t equals = word.find('=');
  if (!word.starts_with("--") || equals == std::string_view::npos) return false;
  return is_special(word.substr(equals + 1));
}

/// The word without the marks at its end.
std::string_view unmarked(std::string_view word) {
  return word.substr(0, word.find_last_not_of(kMark) + 1);
}

bool by_position(const std::string& name) { return name.front() != '-'; }

/// If a value was forgotten before `--`, the parser takes `--` for the value, and would misread the
/// words after it.
void check_given(const std::string& name, const std::string& word) {
  if (by_position(name) || word != "--") return;
  throw CLI::ValidationError(name,
                             fmt::format("needs a value; to give the value --, write {}=--", name));
}

/// Adds an option whose text is converted by `read`. An Error from `read` ends the parsing.
template <typename Read>
CLI::Option* add(CLI::App& command, const std::string& name, const std::string& help,
                 const std::string& type, Read read) {
  auto* option = command.add_option_function<std::string>(
      name,
      [name, read](const std::string& word) {
        const std::string shown = name.substr(name.find(',') + 1);
        check_given(shown, word);
        const Result<void> result = read(unprotect(word));
        if (result) return;
        throw CLI::ValidationError(shown, result.error().message);
      },
      help);
  return option->type_name(type);
}

Result<void> check_choice(std::string_view word, const std::vector<std::string_view>& choices) {
  if (std::ranges::find(choices, word) != choices.end()) return {};
  return Error{ErrorCode::invalid_argument,
               fmt::format("{} is none of {}{}", base::quoted(word), fmt::join(choices, ", "),
                           base::did_you_mean(word, choices))};
}

template <typename Number>
CLI::Option* add_number_to(CLI::App& command, const std::string& name, std::optional<Number>& into,
                           Number min, Number max, const std::string& help) {
  return add(command, name, help, "N", [&into, min, max](const std::string& word) -> Result<void> {
    const auto number = base::parse_u64(word, "number", min, max);
    if (!number) return number.error();
    into = static_cast<Number>(*number);
    return {};
  });
}

CLI::App& add(CLI::App& parent, const std::string& name, const std::string& help) {
  const std::size_t begin = help.find_first_not_of('\n');
  const std::size_t end = help.find("\n\n", begin);
  CLI::App* command = parent.add_subcommand(name, help.substr(begin, end - begin));
  std::string footer = help.substr(end + 2);
  footer.insert(footer.starts_with("  ") ? 0 : footer.find("\n  ") + 1, "Examples:\n");
  footer += "\n\nEvery command accepts --store URL and -o table|json: see tarry --help.";
  command->footer(footer);
  command->fallthrough();
  return *command;
}

}  // namespace

CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& help) {
  CLI::App& group = add(parent, name, help);
  group.require_subcommand(1);
  return group;
}

CLI::App& add_command(CLI::App& parent, Invocation& invocation, const std::string& name,
                      Action action, const std::string& help) {
  CLI::App& command = add(parent, name, help);
  command.callback([&invocation, action = std::move(action)] { invocation.action = action; });
  return command;
}

CLI::Option* add_word(CLI::App& command, const std::string& name, std::string& into,
                      const std::string& help) {
  return add(command, name, help, by_position(name) ? "" : "TEXT", [&into](std::string word) {
    into = std::move(word);
    return Result<void>();
  });
}

CLI::Option* add_word(CLI::App& command, const std::string& name, std::optional<std::string>& into,
                      const std::string& help) {
  return add(command, name, help, by_position(name) ? "" : "TEXT", [&into](std::string word) {
    into = std::move(word);
    return Result<void>();
  });
}

CLI::Option* add_words(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                       const std::string& help) {
  auto* option = command.add_option_function<std::vector<std::string>>(
      name,
      [&into, name](const std::vector<std::string>& words) {
        into.clear();
        for (const std::string& word : words) {
          check_given(name, word);
          into.push_back(unprotect(word));
        }
      },
      help);
  // If the list is given by a flag, the flag takes one word only; the words after it are positional
  // arguments.
  if (!by_position(name)) option->allow_extra_args(false);
  return option->type_name(by_position(name) ? "" : "TEXT");
}

CLI::Option* add_duration(CLI::App& command, const std::string& name, std::optional<Millis>& into,
                          const std::string& help) {
  return add(command, name, help, "DURATION", [&into](const std::string& word) -> Result<void> {
    const auto ms = base::parse_duration_ms(word);
    if (!ms) return ms.error();
    into = Millis(*ms);
    return {};
  });
}

CLI::Option* add_time(CLI::App& command, const std::string& name, std::optional<Time>& into,
                      const std::string& help) {
  return add(command, name, help, "TIME", [&into](const std::string& word) -> Result<void> {
    const auto ms = core::parse_time_ms(word);
    if (!ms) return ms.error();
    into = Time(Millis(*ms));
    return {};
  });
}

CLI::Option* add_number(CLI::App& command, const std::string& name,
                        std::optional<std::uint64_t>& into, std::uint64_t min, std::uint64_t max,
                        const std::string& help) {
  return add_number_to(command, name, into, min, max, help);
}

CLI::Option* add_number(CLI::App& command, const std::string& name,
                        std::optional<std::uint32_t>& into, std::uint32_t min, std::uint32_t max,
                        const std::string& help) {
  return add_number_to(command, name, into, min, max, help);
}

CLI::Option* add_choice(CLI::App& command, const std::string& name,
                        std::optional<std::string>& into,
                        const std::vector<std::string_view>& choices, const std::string& help) {
  const std::string type = fmt::format("{}", fmt::join(choices, "|"));
  return add(command, name, help, type, [&into, &choices](std::string word) -> Result<void> {
    if (auto known = check_choice(word, choices); !known) return known;
    into = std::move(word);
    return {};
  });
}

namespace {

// `from` gives the rule that has one of the names in `choices`.
template <typename Rule, typename From>
CLI::Option* add_named_rule(CLI::App& command, const std::string& name, std::optional<Rule>& into,
                            const std::vector<std::string_view>& choices, const From& from,
                            const std::string& help) {
  const std::string type = fmt::format("{}", fmt::join(choices, "|"));
  return add(command, name, help, type,
             [&into, &choices, from](const std::string& word) -> Result<void> {
               if (auto known = check_choice(word, choices); !known) return known;
               into = from(word);
               return {};
             });
}

}  // namespace

CLI::Option* add_rule(CLI::App& command, const std::string& name, std::optional<IfExists>& into,
                      const std::string& help) {
  return add_named_rule(command, name, into, core::if_exists_names(), core::if_exists_from, help);
}

CLI::Option* add_rule(CLI::App& command, const std::string& name, std::optional<OnExpiry>& into,
                      const std::string& help) {
  return add_named_rule(command, name, into, core::on_expiry_names(), core::on_expiry_from, help);
}

CLI::Option* add_rule(CLI::App& command, const std::string& name, std::optional<GroupOrder>& into,
                      const std::string& help) {
  return add_named_rule(command, name, into, core::group_order_names(), core::group_order_from,
                        help);
}

CLI::Option* add_limit(CLI::App& command, const std::string& setting, const std::string& name,
                       std::optional<std::uint32_t>& into, std::uint32_t max,
                       const std::string& help) {
  return add(command, name, help, "N|none",
             [&into, setting, max](const std::string& word) -> Result<void> {
               const auto limit = core::parse_limit(setting, word, max);
               if (!limit) return limit.error();
               into = *limit;
               return {};
             });
}

namespace {

/// `parse` reads one word.
template <typename Value, typename Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& name, std::optional<Value>& into,
                        const std::string& type, const Parse& parse, const std::string& help) {
  return add(command, name, help, type, [&into, parse](const std::string& word) -> Result<void> {
    const auto value = parse(word);
    if (!value) return value.error();
    into = *value;
    return {};
  });
}

}  // namespace

CLI::Option* add_delivery_rate(CLI::App& command, const std::string& name,
                               std::optional<DeliveryRate>& into, const std::string& help) {
  return add_parsed(command, name, into, "RATE", core::parse_delivery_rate, help);
}

CLI::Option* add_grouping(CLI::App& command, const std::string& name, std::optional<Grouping>& into,
                          const std::string& help) {
  return add_parsed(command, name, into, "GROUP", core::parse_grouping, help);
}

CLI::Option* add_objective(CLI::App& command, const std::string& name,
                           std::optional<Objective>& into, const std::string& help) {
  return add_parsed(command, name, into, "OBJECTIVE", core::parse_objective, help);
}

Due When::due() const noexcept {
  if (at) return Due::at(*at);
  return Due::after(in.value_or(Millis{0}));
}

std::array<CLI::Option*, 2> add_when(CLI::App& command, When& into) {
  auto* in = add_duration(command, "--in", into.in, "After this long: 250ms 30s 15m 2h 7d, PT30M");
  auto* at = add_time(command, "--at", into.at,
                      "At this time: 2030-01-31T09:00:00+01:00, or milliseconds since 1970");
  in->excludes(at);
  return {in, at};
}

void add_by(CLI::App& command, std::optional<Millis>& into,
            const std::array<CLI::Option*, 2>& others) {
  auto* by = add(command, "--by",
                 "Move each by this much from its own due time: 6h, or\n"
                 "-30m for earlier",
                 "DURATION", [&into](const std::string& word) -> Result<void> {
                   const bool back = word.starts_with('-');
                   const auto ms = base::parse_duration_ms(word.substr(back ? 1 : 0));
                   if (!ms) return ms.error();
                   if (*ms == 0) return Error{ErrorCode::invalid_argument, "0s moves nothing"};
                   into = Millis(back ? -*ms : *ms);
                   return {};
                 });
  for (CLI::Option* other : others) by->excludes(other);
}

std::vector<std::string> protect(std::vector<std::string> words) {
  for (std::string& word : words) {
    if (word != "--" && is_special(unmarked(word))) word += kMark;
  }
  return words;
}

std::string unprotect(std::string word) {
  if (word.ends_with(kMark) && is_special(unmarked(word))) word.pop_back();
  return word;
}

}  // namespace tarry::app
