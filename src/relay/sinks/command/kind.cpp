#include "relay/sinks/command/kind.h"

#include "relay/sinks/command/command_sink.h"

namespace tarry::relay {
namespace {

MadeSink make_command_sink(const SinkWish& wish) {
  if (wish.command.empty()) {
    return Unexpected(
        ErrorCode::invalid_argument,
        "command needs a command after --: tarry relay QUEUE --to command -- COMMAND");
  }
  auto sink = std::make_unique<CommandSink>(wish.command, wish.concurrency, wish.children);
  if (auto there = sink->check(); !there) return there.error();
  return MadeSink(std::move(sink));
}

}  // namespace

SinkKind command_kind() {
  return {.name = "command",
          .help = "command (what follows --)",
          .runs_command = true,
          .make = make_command_sink};
}

}  // namespace tarry::relay
