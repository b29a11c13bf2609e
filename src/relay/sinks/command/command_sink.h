// CommandSink: runs a command for each message, as `tarry work` does. The payload is its standard
// input, and its environment names the message (message_text.h). Exit status 0 confirms the
// message, 65 refuses it for good, and any other asks for another attempt. `close` sends SIGTERM to
// the running commands, and `abandon` sends SIGKILL.
#pragma once

#include "relay/child_process.h"
#include "relay/sinks/threaded_sink.h"

namespace tarry::relay {

class CommandSink final : public ThreadedSink {
 public:
  /// `command`, `options`: as for ChildProcesses. `concurrency` commands run at once; only with 1
  /// do messages keep their order.
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
