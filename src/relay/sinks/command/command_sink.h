// CommandSink: runs a command for each message, as `tarry work` does. The payload is its standard
// input, and its environment names the message (message_text.h). Exit status 0 confirms, 65 refuses
// for good, any other asks for another attempt. `close` sends SIGTERM to running commands,
// `abandon` SIGKILL.
#pragma once

#include "relay/child_process.h"
#include "relay/sinks/threaded_sink.h"

namespace tarry::relay {

class CommandSink final : public ThreadedSink {
 public:
  /// `command`, `options`: as ChildProcesses takes them. `concurrency` at once; in order only if
  /// that is 1.
  CommandSink(std::vector<std::string> command, std::uint32_t concurrency,
              ChildOptions options = {});
  ~CommandSink() override;
  [[nodiscard]] std::string title() const override { return title_; }
  [[nodiscard]] Result<void> check() const { return commands_.check(); }

 private:
  [[nodiscard]] Answer deliver(const Outgoing& outgoing) override;
  void interrupt() override;
  void kill() override;

  const std::string title_;
  ChildProcesses commands_;
};

}  // namespace tarry::relay
