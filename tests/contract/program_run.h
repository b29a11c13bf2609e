// One run of the built program: takes its arguments, returns its two outputs and its exit code.
//
// Thread safety: `run_to_end` and `stop` may be called on two threads. Each object runs the program
// once.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::contract {

struct Ran {
  int code = 0;  // above 128: a signal ended the program
  std::string out;
  std::string err;
};

class ProgramRun {
 public:
  /// Returns when the program has ended. Throws if it cannot be started.
  [[nodiscard]] Ran run_to_end(const std::vector<std::string>& words, std::string_view input);
  /// Ends the program at once, or keeps it from starting.
  void stop();

 private:
  std::mutex mutex_;
  pid_t running_ = 0;
  bool stopped_ = false;
};

}  // namespace tarry::contract
