#include "relay/sinks/stdout/kind.h"

#include <unistd.h>

#include "relay/sinks/stdout/lines_sink.h"

namespace tarry::relay {

SinkKind stdout_kind(std::function<bool(int descriptor)> takes_writes) {
  return {.name = "stdout",
          .help = "stdout (JSON lines)",
          .writes_stdout = true,
          .make = [takes_writes = std::move(takes_writes)](const SinkWish& wish) -> MadeSink {
            if (!takes_writes(STDOUT_FILENO)) {
              return Unexpected(ErrorCode::invalid_argument,
                                "stdout is closed, or not open for writing");
            }
            return MadeSink(std::make_unique<LinesSink>(STDOUT_FILENO, wish.on_broken));
          }};
}

}  // namespace tarry::relay
