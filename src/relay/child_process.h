// Runs a command without a shell: gives it bytes on standard input, and returns its exit status.
//
// Thread safety: `run` may be called from many threads at once, `signal_all` from any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include <tarry/result.h>

namespace tarry::relay {

/// How a command ended.
struct Ended {
  int status = 0;  // its exit status, if signal is 0
  int signal = 0;  // the signal that killed it
};

/// How a command's environment differs from this process's.
struct ChildOptions {
  /// The command's soft limit of open files; empty: this process's. This process may have raised
  /// its own limit, and a program that uses select(2) breaks with descriptors above 1,024.
  std::optional<std::uint64_t> descriptors = {};
  std::vector<std::string> withheld = {};  ///< names of variables that the command does not get
};

class ChildProcesses {
 public:
  /// `command`: the program, which is looked for in PATH, and its arguments.
  explicit ChildProcesses(std::vector<std::string> command, ChildOptions options = {});

  /// Whether the program can be found and started. Errors: `not_found`, `permission_denied`.
  [[nodiscard]] Result<void> check() const;

  /// Blocks until the command has ended. Its output goes where this process's output goes. Its
  /// environment is ours without the withheld variables, plus `variables` (NAME -> value, no NUL
  /// bytes). It runs in a process group of its own, so that a Ctrl-C for this process lets it
  /// finish. It is not an error if the command does not read all of its input.
  /// Errors: `unavailable` if the machine has too few descriptors, processes or memory to start it;
  /// `io_error` if it cannot be started; `closed` after `signal_all`; `unknown_outcome` if its exit
  /// status is lost, because SIGCHLD is ignored or other code waits for the children of this
  /// process.
  [[nodiscard]] Result<Ended> run(std::string_view input,
                                  const std::map<std::string, std::string>& variables);

  /// Sends `signal` to every running command and to the processes that it has started. After that
  /// no command is started any more, because it would not get the signal.
  void signal_all(int signal);

 private:
  [[nodiscard]] Result<pid_t> start(int input, const std::vector<std::string>& environment) const;
  [[nodiscard]] Result<Ended> wait_for(pid_t pid);

  std::vector<std::string> command_;
  ChildOptions options_;
  std::mutex mutex_;
  std::set<pid_t> running_;
  bool closed_ = false;
};

}  // namespace tarry::relay
