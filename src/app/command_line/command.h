// Helpers for building commands, on top of CLI11. Values are read once, strictly, by the same
// functions that HTTP and the configuration use. So the same bad input gets the same error line
// everywhere.
//
// Every `add_…` returns the option, for `->required()` and the like. The variable must live until
// parsing is over: `add_command` keeps the words of a command as long as the command.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/message.h>
#include <tarry/time.h>
#include <CLI/CLI.hpp>

#include "app/command_line/invocation.h"

namespace tarry::app {

/// A command that only has commands below it. `help`, here and below: a line that says what the
/// command does, an empty line, details in lines of their own, and examples, indented by two
/// spaces.
CLI::App& add_group(CLI::App& parent, const std::string& name, const std::string& help);

/// A command that runs `action`, once everything has been parsed without an error.
CLI::App& add_command(CLI::App& parent, Invocation& invocation, const std::string& name,
                      Action action, const std::string& help);

/// A command, and the object into which its flags and words are read.
template <typename Words>
struct CommandWithWords {
  CLI::App& command;
  Words& words;
};

/// A command that runs `action` with its words, which live as long as the command.
template <typename Words>
CommandWithWords<Words> add_command(CLI::App& parent, Invocation& invocation,
                                    const std::string& name,
                                    ExitCode (*action)(Invocation&, const Words&),
                                    const std::string& help) {
  const auto words = std::make_shared<Words>();
  const auto run = [words, action](Invocation& given) { return action(given, *words); };
  return {add_command(parent, invocation, name, Action(run), help), *words};
}

CLI::Option* add_word(CLI::App& command, const std::string& name, std::string& into,
                      const std::string& help);
CLI::Option* add_word(CLI::App& command, const std::string& name, std::optional<std::string>& into,
                      const std::string& help);
/// A positional argument takes one or more words; a flag (`--header`) takes one word each time it
/// is used.
CLI::Option* add_words(CLI::App& command, const std::string& name, std::vector<std::string>& into,
                       const std::string& help);
CLI::Option* add_duration(CLI::App& command, const std::string& name, std::optional<Millis>& into,
                          const std::string& help);
CLI::Option* add_time(CLI::App& command, const std::string& name, std::optional<Time>& into,
                      const std::string& help);
CLI::Option* add_number(CLI::App& command, const std::string& name,
                        std::optional<std::uint64_t>& into, std::uint64_t min, std::uint64_t max,
                        const std::string& help);
CLI::Option* add_number(CLI::App& command, const std::string& name,
                        std::optional<std::uint32_t>& into, std::uint32_t min, std::uint32_t max,
                        const std::string& help);
/// `choices` must outlive the command.
CLI::Option* add_choice(CLI::App& command, const std::string& name,
                        std::optional<std::string>& into,
                        const std::vector<std::string_view>& choices, const std::string& help);

/// `max`: the highest limit; `none` is 0.
CLI::Option* add_limit(CLI::App& command, const std::string& setting, const std::string& name,
                       std::optional<std::uint32_t>& into, std::uint32_t max,
                       const std::string& help);
CLI::Option* add_delivery_rate(CLI::App& command, const std::string& name,
                               std::optional<DeliveryRate>& into, const std::string& help);
/// `key`, `header:NAME` or `none`: core/settings/grouping.h.
CLI::Option* add_grouping(CLI::App& command, const std::string& name, std::optional<Grouping>& into,
                          const std::string& help);
CLI::Option* add_objective(CLI::App& command, const std::string& name,
                           std::optional<Objective>& into, const std::string& help);
CLI::Option* add_rule(CLI::App& command, const std::string& name, std::optional<IfExists>& into,
                      const std::string& help);
CLI::Option* add_rule(CLI::App& command, const std::string& name, std::optional<OnExpiry>& into,
                      const std::string& help);
CLI::Option* add_rule(CLI::App& command, const std::string& name, std::optional<GroupOrder>& into,
                      const std::string& help);

/// --in and --at, of which one may be given.
struct When {
  std::optional<Millis> in;
  std::optional<Time> at;

  [[nodiscard]] bool given() const noexcept { return in || at; }
  /// The chosen due time; now if neither flag was given.
  [[nodiscard]] Due due() const noexcept;
};
/// Returns the options --in and --at.
std::array<CLI::Option*, 2> add_when(CLI::App& command, When& into);
/// --by takes a duration; a - before it moves messages to an earlier time. It excludes the other
/// flags.
void add_by(CLI::App& command, std::optional<Millis>& into,
            const std::array<CLI::Option*, 2>& others);

/// CLI11 reads a word in brackets as a list and splits it. So every such word is marked before
/// parsing, and the functions above remove the mark.
[[nodiscard]] std::vector<std::string> protect(std::vector<std::string> words);
[[nodiscard]] std::string unprotect(std::string word);

}  // namespace tarry::app
