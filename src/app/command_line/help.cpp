#include "app/command_line/help.h"

#include <algorithm>
#include <regex>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "base/text/nearest.h"
#include "base/text/text.h"

namespace tarry::app {
namespace {

/// The command with the commands above it: "tarry queue info".
std::string path_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name();
  return path_of(*command.get_parent()) + " " + command.get_name();
}

/// The first few of the command's own flags, as "--in, --at, --prefix, ..."; empty if it has none.
std::string some_flags(const CLI::App& command) {
  constexpr std::size_t kMost = 8;  // more than these make the line hard to read
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    if (option == command.get_help_ptr() || option->get_lnames().empty()) continue;
    names.push_back("--" + option->get_lnames().front());
  }
  if (names.size() > kMost) {
    names.resize(kMost);
    names.emplace_back("...");
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string unknown_flag(const CLI::App& command, const std::string& flag) {
  std::vector<std::string> names;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
      for (const std::string& name : option->get_snames()) names.push_back("-" + name);
    }
  }
  std::string line = fmt::format("unknown flag {}", base::quoted(flag));
  const std::string name = flag.substr(0, flag.find('='));
  // For a flag of one letter nothing is suggested, because every other letter is equally near.
  const auto meant =
      name.size() > 2 ? base::nearest(name, {names.begin(), names.end()}) : std::string_view();
  if (!meant.empty()) return line + fmt::format("; did you mean {}?", meant);
  if (const std::string known = some_flags(command); !known.empty()) {
    line += fmt::format(" (known: {})", known);
  }
  return line + ". To pass a value that starts with '-', put it after --";
}

std::string unknown_command(const CLI::App& command, const std::string& word) {
  std::vector<std::string_view> names;
  for (const CLI::App* sub : command.get_subcommands({})) {
    names.push_back(sub->get_name());
    // Suggests `store export` for `tarry export`.
    for (const CLI::App* below : sub->get_subcommands({})) {
      if (below->get_name() != word) continue;
      return fmt::format("unknown command {}; did you mean tarry {} {}?", base::quoted(word),
                         sub->get_name(), word);
    }
  }
  return fmt::format("unknown command {}{}", base::quoted(word), base::did_you_mean(word, names));
}

// Rewords the parser's errors that users meet: a flag that occurs twice, or without its value.
std::string in_our_words(const std::string& line) {
  std::smatch found;
  static const std::regex kTwice("(.*): At Most 1 required but received (\\d+)");
  if (std::regex_match(line, found, kTwice)) {
    return fmt::format("{} is given {} times; once is enough", found.str(1), found.str(2));
  }
  static const std::regex kNoValue("(.*): 1 required (.*) missing");
  if (std::regex_match(line, found, kNoValue)) {
    return fmt::format("{} needs a value: {}", found.str(1), found.str(2));
  }
  return line;
}

}  // namespace

HelpFormatter::HelpFormatter() {
  column_width(28);
  label("SUBCOMMAND", "COMMAND");
  label("Subcommands", "Commands");
  label("Positionals", "Arguments");
}

std::string HelpFormatter::make_usage(const CLI::App* app, std::string name) const {
  std::string usage = CLI::Formatter::make_usage(app, std::move(name));
  if (app->get_name() != "work") return usage;
  usage.erase(usage.find_last_not_of('\n') + 1);
  return usage + " -- COMMAND [ARG]...\n";
}

std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  const std::string type = option->get_type_name();
  return type.empty() ? "" : " " + type;
}

const CLI::App& chosen(const CLI::App& root) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  return *command;
}

std::string help_of(const CLI::App& command) {
  return command.help(command.get_parent() == nullptr ? "" : path_of(*command.get_parent()));
}

std::string explain(const CLI::App& root, const CLI::ParseError& error,
                    const std::vector<std::string>& behind) {
  const CLI::App& command = chosen(root);
  std::string line;
  bool only_words = false;
  // A word that was not understood is reported first, because it is the reason why the rest looks
  // wrong too.
  for (const std::string& marked : root.remaining(true)) {
    const std::string word = unprotect(marked);
    if (word == "--" && !only_words) {
      only_words = true;
      continue;
    }
    only_words = only_words || std::ranges::find(behind, marked) != behind.end();
    if (!only_words && word.size() > 1 && word.front() == '-') {
      line = unknown_flag(command, word);
    } else if (only_words && !command.get_subcommands({}).empty()) {
      line = fmt::format("{} stands after --; put the command before --", base::quoted(word));
    } else if (!command.get_subcommands({}).empty()) {
      line = unknown_command(command, word);
    } else {
      line = fmt::format("one argument too many: {}", base::quoted(word));
    }
    break;
  }
  const bool lacks_command = !command.get_subcommands({}).empty();
  if (line.empty() && lacks_command && error.get_name() == "RequiredError") {
    line = fmt::format("{} needs a command", path_of(command));
  }
  if (line.empty()) {
    line = error.what();
    line = in_our_words(line.substr(0, line.find('\n')));
  }
  return fmt::format("{} (see {} --help)", line, path_of(command));
}

}  // namespace tarry::app
