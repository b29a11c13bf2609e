// tarry clock advance: moves the clock of a server that was started with --test-clock.
#include <memory>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "base/text/text.h"
#include "open/server_call.h"
#include "wire/parts/problem.h"
#include "wire/service.h"

namespace tarry::app {
namespace {

ExitCode advance(Invocation& invocation, const std::optional<Millis>& by) {
  Output& output = invocation.output;
  std::string body;
  wire::JsonWriter json(body);
  json.begin_object().field("by", base::format_duration_ms(by->count())).end_object();
  const std::string url = invocation.url();
  const auto answer = tools::call_server(url, "POST", "/v1/clock/advance", std::move(body));
  if (!answer) return output.fail(answer.error());
  if (answer->status != 200) return output.fail(wire::read_problem(answer->status, answer->body));
  if (output.json()) {
    output.print_line(wire::encode_advanced(*by));
  } else {
    output.print_line(
        fmt::format("the clock moved forward by {}", base::format_duration_ms(by->count())));
  }
  return ExitCode::done;
}

}  // namespace

void add_clock_command(CLI::App& root, Invocation& invocation) {
  CLI::App& clock = add_group(root, "clock", R"(
The test clock of a server: advance

  tarry clock advance 31d)");
  const auto [command, by] = add_command(clock, invocation, "advance", advance, R"(
Move the clock of a server that was started with --test-clock

Messages that fall due in that time are due when the command answers.

  tarry serve --store memory: --test-clock
  tarry clock advance 31d)");
  add_duration(command, "DURATION", by, "How far: 0s to 36500d")->required();
}

}  // namespace tarry::app
