#include "relay/sinks/command/command_sink.h"

#include <csignal>
#include <utility>

#include "base/text/text.h"
#include "relay/message_text.h"

namespace tarry::relay {
namespace {

constexpr int kBury = 65;  // EX_DATAERR of sysexits.h

}  // namespace

CommandSink::CommandSink(std::vector<std::string> command, std::uint32_t concurrency,
                         ChildOptions options)
    : title_("command " + base::quoted(command.front())),
      commands_(std::move(command), std::move(options)) {
  begin(concurrency);
}

CommandSink::~CommandSink() { end(); }

Answer CommandSink::deliver(const Outgoing& outgoing) {
  const Delivery& delivery = outgoing.delivery;
  const auto ended = commands_.run(delivery.payload(), variables_for(delivery));
  if (!ended && ended.error().code == ErrorCode::unknown_outcome) {
    return unknown(ended.error().message);
  }
  // The cause is this machine or the command, not the message.
  if (!ended) return sink_down(ended.error().message);
  if (ended->signal != 0) {
    return try_again("the command was killed by signal " + std::to_string(ended->signal));
  }
  const std::string reason = "the command exited with " + std::to_string(ended->status);
  switch (ended->status) {
    case 0: return confirmed();
    case kBury: return refused(reason);
    default: return try_again(reason);
  }
}

void CommandSink::interrupt() { commands_.signal_all(SIGTERM); }
void CommandSink::kill() { commands_.signal_all(SIGKILL); }

}  // namespace tarry::relay
