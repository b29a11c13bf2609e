// tarry store backup: copies a store while its server has it open.
#include <memory>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/progress.h"
#include "base/text/text.h"
#include "open/server_call.h"
#include "open/store_tools.h"
#include "wire/json/json_writer.h"

namespace tarry::app {
namespace {

ExitCode back_up(Invocation& invocation, const std::string& destination) {
  Output& output = invocation.output;
  const std::string url = invocation.url();
  if (tools::is_server_url(url)) {
    return output.usage(
        "a backup reads the store's directory; run it on that machine with --store file:PATH");
  }
  const auto path = tools::path_of_store(url);
  if (!path) return output.usage(path.error().message);
  const auto target = tools::directory_of(destination);
  if (!target)
    return output.usage("DIRECTORY " + base::quoted(destination) + ": " + target.error().message);
  if (const auto store = tools::format_of_store(*path); !store) {
    output.error(store.error());
    return exit_code_of_open(store.error().code);
  }
  Progress progress("copying", stderr, output.err());
  const auto report = tools::backup_store(
      *path, *target,
      [&](std::uint64_t done, std::uint64_t total) { progress.show_bytes(done, total); });
  progress.clear();
  if (!report) {
    output.error(report.error());
    // The target may be missing, but its parent must exist.
    return report.error().code == ErrorCode::not_found ? ExitCode::failed
                                                       : exit_code(report.error().code);
  }
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().field("messages", report->messages);
      json.field("shards", std::uint64_t{report->shards}).field("linked", report->linked);
      json.field("copied", report->copied).field("copied_bytes", report->bytes).end_object();
    });
    return ExitCode::done;
  }
  output.print_line(fmt::format(
      "{}: {} shared, {} copied, {}", counted(report->messages, "message"),
      counted(report->linked, "segment"), grouped(report->copied), counted(report->bytes, "byte")));
  // The head of each shard is always copied, so only more copies than shards are worth a note.
  if (report->copied > report->shards) {
    output.note(
        "Segments could not be shared (another file system, or files of another owner), so they "
        "were copied.");
  }
  return ExitCode::done;
}

}  // namespace

void add_backup_command(CLI::App& store, Invocation& invocation) {
  const auto [command, destination] = add_command(store, invocation, "backup", back_up, R"(
Copy a file: store to a second one, even while it is in use

DIRECTORY must be new or empty. Closed segments are shared with the store (hard links)
and need no extra room until the store drops them; on another file system they are
copied. The backup holds everything that was accepted before it began. It is checked
before it becomes a store.

  tarry --store file:/var/lib/tarry store backup /var/backups/tarry-monday)");
  add_word(command, "DIRECTORY", destination, "Where to put the backup")->required();
}

}  // namespace tarry::app
