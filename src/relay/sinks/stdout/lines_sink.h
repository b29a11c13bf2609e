// LinesSink: writes each message as a line of JSON (message_text.h) to a descriptor, in order. A
// message is confirmed once the kernel has taken its whole line; what a pipe's reader does with it
// is not known. If the reader does not read, the sink waits for it until `close`. Half a line may
// then stay in the output. The next line, even if a later run writes it, is then preceded by a line
// feed, so that the half line ends.
#pragma once

#include <functional>

#include "base/threads/stop_event.h"
#include "relay/sinks/threaded_sink.h"

namespace tarry::relay {

class LinesSink final : public ThreadedSink {
 public:
  /// The caller still owns `fd`, and must have SIGPIPE ignored. `on_broken` is called on the sink's
  /// thread for every message that cannot be written, because the reader is gone or the disk is
  /// full.
  LinesSink(int fd, std::function<void(Error)> on_broken);
  ~LinesSink() override { end(); }
  [[nodiscard]] std::string title() const override { return "stdout"; }

 private:
  [[nodiscard]] Answer deliver(const Outgoing& outgoing) override;
  void interrupt() override { stop_.set(); }

  const int fd_;
  base::StopEvent stop_;
  const std::size_t most_;  // the most bytes of one write
  const std::function<void(Error)> on_broken_;
  bool in_a_line_;  // used by the thread: the output may end with half a line, of an
                    // earlier run or of a message that was given up
};

}  // namespace tarry::relay
