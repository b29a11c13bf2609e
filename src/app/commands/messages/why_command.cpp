// tarry why: one answer to why a message has not been delivered.
#include <chrono>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/printable.h"
#include "wire/why.h"

namespace tarry::app {
namespace {

constexpr std::chrono::seconds kWatchInterval{1};

struct WhyWords {
  std::string queue;
  std::string key;
  bool watch = false;
};

void print(Output& output, const Why& why) {
  if (!output.json()) return output.print_line(printable(why.text));
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object();
    wire::write_why(json, why);
    json.end_object();
  });
}

/// Whether no more can become of the message.
bool is_last(const Why& why) { return why.cause == Cause::ended || why.cause == Cause::dead; }

/// Prints each answer that differs from the one before, until the message has ended or is dead.
ExitCode watch(Output& output, const Queue& queue, const WhyWords& words) {
  for (std::string before;;) {
    const auto why = queue.why(words.key);
    // What ended without being remembered was known before.
    if (!why && why.error().code == ErrorCode::not_found && !before.empty()) {
      output.note(why.error().message);
      return ExitCode::done;
    }
    if (!why) return output.fail(why.error());
    // The text of a lease changes with each second.
    const std::string mark =
        fmt::format("{} {}", to_string(why->cause), why->cause == Cause::leased ? "" : why->text);
    if (mark != before) {
      print(output, *why);
      if (const auto flushed = Output::flush(); !flushed) return output.fail(flushed.error());
    }
    before = mark;
    if (is_last(*why)) return ExitCode::done;
    std::this_thread::sleep_for(kWatchInterval);
  }
}

ExitCode why(Invocation& invocation, const WhyWords& words) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(words.queue);
  if (words.watch) return watch(invocation.output, queue, words);
  const auto why = queue.why(words.key);
  if (!why) return invocation.output.fail(why.error());
  print(invocation.output, *why);
  return ExitCode::done;
}

}  // namespace

void add_why_command(CLI::App& root, Invocation& invocation) {
  const auto [command, words] = add_command(root, invocation, "why", why, R"(
Tell why a message has not been delivered, or what has become of it

Names one cause: not due yet, a pause, no consumer, busy consumers, a lease, its death,
its end. With --watch it asks each second, and prints the cause again when it changes,
until the message has ended or is dead.

  tarry why orders order:42
  tarry why orders order:42 --watch)");
  add_word(command, "QUEUE", words.queue, "The queue")->required();
  add_word(command, "KEY", words.key, "The key of the message")->required();
  command.add_flag("--watch", words.watch, "Ask each second, until the message has ended");
}

}  // namespace tarry::app
