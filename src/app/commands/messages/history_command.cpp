// tarry history: what has happened to a message.
#include <string>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "base/text/text.h"
#include "wire/history.h"

namespace tarry::app {
namespace {

struct HistoryWords {
  std::string queue;
  std::string key;
};

std::string time_text(Time time) { return base::format_time_ms(time.time_since_epoch().count()); }

/// What an event says besides its time and its attempt.
std::string details_of(const MessageEvent& event) {
  std::string details;
  const auto add = [&](std::string_view words, std::string_view value) {
    if (value.empty()) return;
    if (!details.empty()) details += ", ";
    details += words;
    details += value;
  };
  if (event.due) add("due ", time_text(*event.due));
  add("by ", event.by);
  add("", event.reason);
  return details;
}

Table table_of(const MessageHistory& history) {
  Table table({{"TIME"}, {"EVENT"}, {"ATTEMPT", true}, {"DETAILS", false, true}});
  for (const MessageEvent& event : history.events) {
    const std::string attempt = event.attempt == 0 ? "-" : std::to_string(event.attempt);
    table.add({time_text(event.at), to_string(event.kind), attempt, details_of(event)});
  }
  return table;
}

ExitCode history(Invocation& invocation, const HistoryWords& words) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  Output& output = invocation.output;
  const auto history = store->queue(words.queue).history(words.key);
  if (!history) return output.fail(history.error());
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object();
      wire::write_history(json, *history);
      json.end_object();
    });
    return ExitCode::done;
  }
  if (history->limit == 0) {
    output.note(
        fmt::format("queue {} keeps no history; for one from now on: "
                    "tarry queue set {} --history 20",
                    base::quoted(words.queue), words.queue));
  } else if (history->events.empty()) {
    output.note("nothing has happened to the message since the queue keeps a history");
  } else {
    output.print(table_of(*history));
  }
  return ExitCode::done;
}

}  // namespace

void add_history_command(CLI::App& root, Invocation& invocation) {
  const auto [command, words] = add_command(root, invocation, "history", history, R"(
Show what has happened to a message

Shows its last events, oldest first: pushed, claimed and by whom, retried and why, and so
on. Only queues with the setting `history` keep them, from then on. What has ended keeps
its history for as long as the queue remembers it.

  tarry queue set orders --history 20 --remember 1d
  tarry history orders order:42)");
  add_word(command, "QUEUE", words.queue, "The queue")->required();
  add_word(command, "KEY", words.key, "The key of the message")->required();
}

}  // namespace tarry::app
