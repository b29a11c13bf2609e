// One run of the built program: words in, its two outputs and its exit code back.
//
// Thread safety: `run_to_end` and `stop` may be called on two threads; one run an object.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace tarry::contract {

struct Ran {
  int code = 0;  // over 128: ended by a signal
  std::string out;
  std::string err;
};

class ProgramRun {
 public:
  /// Returns when the program has ended. Throws where it cannot be started.
  [[nodiscard]] Ran run_to_end(const std::vector<std::string>& words, std::string_view input);
  /// Ends it at once, or keeps it from beginning.
  void stop();

 private:
  std::mutex mutex_;
  pid_t running_ = 0;
  bool stopped_ = false;
};

}  // namespace tarry::contract
