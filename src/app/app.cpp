#include "app/app.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "app/command_line/command.h"
#include "app/command_line/help.h"
#include "app/command_line/invocation.h"
#include "app/commands/commands.h"
#include "app/output/version.h"
#include "app/system/descriptors.h"

namespace tarry::app {
namespace {

constexpr const char* kSummary =
    "tarry: a delay queue. Hands a message back when its time has come: never early, never lost.";

constexpr const char* kFooter =
    "Durations: 250ms 30s 15m 2h 7d, PT30M. Times: 2030-01-31T09:00:00Z (an offset is\n"
    "required), or milliseconds since 1970.\n"
    "Exit codes: 0 done; 1 failed; 2 usage; 3 unknown: no such message; 4 conflict: exists,\n"
    "in flight, stopping, settled, stale; 5 store not reachable. With several keys or\n"
    "receipts the exit code is the worst of them; from worst to best: 5, 1, 2, 4, 3, 0.";

const std::vector<std::string_view>& format_names() {
  static const std::vector<std::string_view> kNames{"table", "json"};
  return kNames;
}

/// Finds the command: the first word before `--` that is neither a flag nor a flag's value. Returns
/// the end if there is none.
std::vector<std::string>::iterator find_command(std::vector<std::string>& arguments) {
  for (auto word = arguments.begin(); word != arguments.end(); ++word) {
    if (*word == "--") break;
    if (*word == "--store" || *word == "-o" || *word == "--output") {
      if (++word == arguments.end() || *word == "--") break;
    } else if (!word->starts_with('-')) {
      return word;
    }
  }
  return arguments.end();
}

/// The words after `--` of `work` and `relay` are another program's command line, flags included.
std::vector<std::string> take_trailing(std::vector<std::string>& arguments) {
  const auto mark = std::ranges::find(arguments, "--");
  const auto command = find_command(arguments);
  if (mark == arguments.end() || command == arguments.end()) return {};
  if (*command != "work" && *command != "relay") return {};
  std::vector<std::string> trailing(mark + 1, arguments.end());
  arguments.erase(mark, arguments.end());
  return trailing;
}

/// Whether errors about the arguments are printed as JSON. This is a guess, because a flag's value
/// may look like a flag.
bool asks_for_json(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    if (word == "--") return false;
    if (word == "-ojson" || word == "--output=json") return true;
    const bool flag = word == "-o" || word == "--output";
    if (flag && i + 1 < arguments.size() && arguments[i + 1] == "json") return true;
  }
  return false;
}

ExitCode parse(CLI::App& root, Invocation& invocation, std::vector<std::string> arguments) {
  if (const auto help = find_command(arguments); help != arguments.end() && *help == "help") {
    arguments.erase(help);
    // Inserted before `--`: the words after it belong to another program.
    arguments.insert(std::ranges::find(arguments, "--"), "--help");
  }
  invocation.trailing = take_trailing(arguments);
  if (asks_for_json(arguments)) invocation.output.set_format(Format::json);
  arguments = protect(std::move(arguments));
  const auto mark = std::ranges::find(arguments, "--");
  const std::vector<std::string> behind(mark, arguments.end());
  std::ranges::reverse(arguments);  // CLI11 expects them in reverse order
  try {
    root.parse(std::move(arguments));
  } catch (const CLI::CallForHelp& asked) {
    const auto not_understood = root.remaining(true);
    if (!not_understood.empty() && not_understood.front() != "--") {
      invocation.action = nullptr;
      return invocation.output.usage(explain(root, asked));
    }
    std::string help = help_of(chosen(root));
    help.erase(help.find_last_not_of('\n') + 1);
    invocation.output.print_line(help);
    invocation.action = nullptr;
    return ExitCode::done;
  } catch (const CLI::CallForVersion&) {
    invocation.output.print_line(version_line());
    invocation.action = nullptr;
    return ExitCode::done;
  } catch (const CLI::ParseError& error) {
    invocation.action = nullptr;
    return invocation.output.usage(explain(root, error, behind));
  }
  return ExitCode::done;
}

std::string limit_in_words(std::string_view why) {
  const auto limit = descriptor_limit();
  if (why.find(std::strerror(EMFILE)) == std::string_view::npos || !limit) return "";
  return "; the limit of open files is " + std::to_string(*limit) + " (ulimit -n)";
}

// If the machine has no descriptors or threads left, Asio and the standard library throw wherever
// they create one.
ExitCode act(Invocation& invocation) {
  try {
    return invocation.action(invocation);
  } catch (const std::runtime_error& refused) {
    const std::string why = refused.what();
    return invocation.output.fail(
        {ErrorCode::unavailable,
         "cannot get a thread or a file descriptor from the system: " + why + limit_in_words(why)});
  }
}

}  // namespace

ExitCode run(std::vector<std::string> arguments) {
  Invocation invocation;
  CLI::App root(kSummary, "tarry");
  root.formatter(std::make_shared<HelpFormatter>());
  root.footer(kFooter);
  root.set_version_flag("--version", version_line());
  root.require_subcommand(1);
  std::optional<std::string> format;
  add_word(
      root, "--store", invocation.store,
      "file:PATH, memory:, redis://HOST:PORT, amqp://HOST:PORT,\n"
      "http://HOST:PORT, https://HOST:PORT or http+unix:///PATH\n(default: TARRY_STORE, else " +
          std::string(kDefaultStore) + ")")
      ->type_name("URL");
  add_choice(root, "-o,--output", format, format_names(), "How to print answers (default: table)");
  root.add_flag_callback("--json", [&format] { format = "json"; }, "The same as -o json");

  add_serve_command(root, invocation);
  add_push_command(root, invocation);
  add_message_commands(root, invocation);
  add_why_command(root, invocation);
  add_history_command(root, invocation);
  add_claim_command(root, invocation);
  add_settle_commands(root, invocation);
  add_work_command(root, invocation);
  add_relay_command(root, invocation);
  add_intake_command(root, invocation);
  add_dead_commands(root, invocation);
  add_queue_commands(root, invocation);
  add_forecast_command(root, invocation);
  add_schedule_commands(root, invocation);
  add_top_command(root, invocation);
  add_health_command(root, invocation);
  add_clock_command(root, invocation);
  add_store_commands(root, invocation);
  add_config_command(root, invocation);
  add_token_commands(root, invocation);
  add_audit_log_command(root, invocation);
  add_bench_command(root, invocation);
  add_version_command(root, invocation);
  add_shell_commands(root, invocation);

  ExitCode code = parse(root, invocation, std::move(arguments));
  if (invocation.action)
    invocation.output.set_format(format == "json" ? Format::json : Format::table);
  if (invocation.action && root.count("--store") > 0 && invocation.store.empty()) {
    return invocation.output.finish(
        invocation.output.usage("--store is empty; it takes a store's URL"));
  }
  if (invocation.action) code = act(invocation);
  return invocation.output.finish(code);
}

}  // namespace tarry::app
