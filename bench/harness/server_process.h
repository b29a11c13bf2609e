// ServerProcess: a server that the run starts. Its output goes into a file; it ends with this
// object, and with the thread that made it.
//
// Thread safety: none.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <string>
#include <vector>

namespace tarry::bench {

class ServerProcess {
 public:
  struct Options {
    std::string log;            // a file for its output
    std::string user = {};      // the user that runs it if we are root and it refuses to be
    int stop_signal = SIGKILL;  // the signal that ends it
  };
  ServerProcess(const std::vector<std::string>& words, Options options);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  /// Runs `words` as the user of `options`, and waits for its end. Returns whether it ended well.
  [[nodiscard]] static bool run(const std::vector<std::string>& words, const Options& options);

 private:
  static pid_t start(const std::vector<std::string>& words, const Options& options);

  const int stop_signal_;
  pid_t pid_;
};

/// Bytes of a process that are in RAM and belong to no file; 0 if there is no such process.
[[nodiscard]] double anonymous_bytes_of(pid_t pid);

/// What all threads of a process have taken so far.
struct ProcessEffort {
  double cpu_seconds = 0;  // in steps of 10 ms
  double switches = 0;     // from one thread to another, wanted or not

  friend ProcessEffort operator-(const ProcessEffort& a, const ProcessEffort& b) noexcept {
    return {a.cpu_seconds - b.cpu_seconds, a.switches - b.switches};
  }
};
[[nodiscard]] ProcessEffort effort_of(pid_t pid);

}  // namespace tarry::bench
