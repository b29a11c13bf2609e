// LinesSink: writes each message as a line of JSON (message_text.h) to a descriptor, in order.
// Confirmed once the kernel has taken the whole line; nobody knows what a pipe's reader does with
// it. It waits for a reader that does not read until `close`, which may leave half a line. The next
// line then begins with an end of line, and so does a run whose predecessor may have left half a
// line.
#pragma once

#include <functional>

#include "base/stop_event.h"
#include "relay/sinks/threaded_sink.h"

namespace tarry::relay {

class LinesSink final : public ThreadedSink {
 public:
  /// `fd` stays the caller's. `on_broken`: the reader is gone, or the disk is full; called at every
  /// message, from the sink's thread. SIGPIPE is to be ignored.
  LinesSink(int fd, std::function<void(Error)> on_broken);
  ~LinesSink() override { end(); }
  [[nodiscard]] std::string title() const override { return "stdout"; }

 private:
  [[nodiscard]] Answer deliver(const Outgoing& outgoing) override;
  void interrupt() override { stop_.set(); }

  const int fd_;
  base::StopEvent stop_;
  const std::size_t most_;  // bytes of one write
  const std::function<void(Error)> on_broken_;
  bool in_a_line_;  // the thread's: of another run, or of a message that was given up
};

}  // namespace tarry::relay
