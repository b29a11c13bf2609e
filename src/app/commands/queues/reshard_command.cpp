// tarry queue reshard: changes the number of shards of a queue in Redis, while it is used.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "app/system/signals.h"
#include "core/limits.h"

namespace tarry::app {
namespace {

struct ReshardWords {
  std::string queue;
  std::optional<std::uint64_t> shards;
};

// The pause between two steps, if only leases or an inbox must still be waited for.
constexpr std::chrono::milliseconds kReshardPatience{100};

void print(Output& output, const std::string& queue, const ReshardStep& step) {
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("queue", queue).field_bool("done", step.done);
      json.field_bool("changed", step.changed);
      json.field("from", std::uint64_t{step.from}).field("to", std::uint64_t{step.to});
      json.field("moved", step.moved).field("left", step.left).field("leased", step.leased);
      json.text_field("waits_for", step.waits_for).end_object();
    });
  } else if (step.done && !step.changed) {
    output.print_line(
        fmt::format("queue {} has {} already; nothing was done", queue, counted(step.to, "shard")));
  } else if (step.done) {
    output.print_line(
        fmt::format("queue {} has {} now; it had {}", queue, counted(step.to, "shard"), step.from));
  }
}

ExitCode reshard(Invocation& invocation, const ReshardWords& words) {
  Output& output = invocation.output;
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(words.queue);
  std::atomic<bool> stopped = false;
  const SignalWatch watch([&stopped](int) { stopped = true; });
  Progress progress("moving", stderr, output.err());
  ReshardStep last;
  bool noted = false;
  while (!stopped) {
    const auto step = queue.reshard(static_cast<std::uint32_t>(*words.shards), last.turn);
    if (!step) {
      progress.clear();
      return output.fail(step.error());
    }
    const bool waits = step->moved == last.moved && last.turn != 0;
    last = *step;
    if (last.done) break;
    progress.show(last.moved, last.moved + last.left, last.moved, "messages");
    if (!waits) continue;
    if (!std::exchange(noted, true)) {
      output.note(
          last.waits_for.empty()
              ? fmt::format("waiting for the claims of {} to end", counted(last.leased, "message"))
              : fmt::format("waiting for the inbox {} to be drained", last.waits_for));
    }
    std::this_thread::sleep_for(kReshardPatience);
  }
  progress.clear();
  print(output, words.queue, last);
  if (last.done) return ExitCode::done;
  output.tell("stopped; the queue can be used as it is; run the same command again to continue");
  return ExitCode::failed;
}

}  // namespace

void add_reshard_command(CLI::App& queue, Invocation& invocation) {
  const auto [command, words] = add_command(queue, invocation, "reshard", reshard, R"(
Change the number of shards of a queue in Redis

Producers and consumers may keep running. The command waits until claims end. You may
stop it at any time; run the same command again to continue.

  tarry queue reshard orders 4
  tarry queue reshard orders 1 -o json)");
  add_word(command, "QUEUE", words.queue, "The queue")->required();
  add_number(command, "SHARDS", words.shards, 1, core::kMaxShards,
             fmt::format("Number of shards (1 to {})", core::kMaxShards))
      ->required();
}

}  // namespace tarry::app
