// tarry health: whether a store serves now, for probes and scripts.
#include <optional>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "open/server_call.h"
#include "wire/parts/problem.h"

namespace tarry::app {
namespace {

// Asks the server for /readyz, as a load balancer does, because this answer also tells whether the
// server is draining.
std::optional<Error> server_trouble(const std::string& url, ExitCode& code) {
  const auto answer = tools::call_server(url, "GET", "/readyz", {});
  if (!answer) {
    code = exit_code_of_open(answer.error().code);
    return answer.error();
  }
  if (answer->status == 200) return std::nullopt;
  code = ExitCode::failed;  // the server was reached: `unavailable` is about its store
  return wire::read_problem(answer->status, answer->body);
}

ExitCode health(Invocation& invocation) {
  Output& output = invocation.output;
  const std::string url = invocation.url();
  ExitCode code = ExitCode::done;
  if (tools::is_server_url(url)) {
    if (const auto trouble = server_trouble(url, code)) {
      output.error(*trouble);
      return code;
    }
  } else {
    const auto store = invocation.open(code);
    if (!store) return code;
    if (const auto stats = store->stats(); !stats) return output.fail(stats.error());
  }
  if (output.json()) {
    output.print_json(
        [](wire::JsonWriter& json) { json.begin_object().field_bool("ready", true).end_object(); });
  } else {
    output.print_line("ready");
  }
  return code;
}

}  // namespace

void add_health_command(CLI::App& root, Invocation& invocation) {
  add_command(root, invocation, "health", health, R"(
Check whether the store can serve now

Exit code 0: ready; 1: reached but not ready, the error says why; 5: not reachable.
A server is asked at /readyz, which needs no token.

  tarry health
  tarry --store redis://127.0.0.1 health && ./begin)");
}

}  // namespace tarry::app
