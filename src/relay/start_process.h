// Starts a program as posix_spawn does, and with a limit of open files of its own, which
// posix_spawn cannot give it: a limit that is lowered from outside once the program runs comes too
// late for a program that looks at it first of all.
//
// Thread safety: from any thread; other threads of the process run on meanwhile.
#pragma once

#include <optional>

#include <sys/resource.h>
#include <sys/types.h>

namespace tarry::relay {

struct Launch {
  char* const* words;  ///< the program, looked for in PATH, and its arguments; ends with nullptr
  char* const* environment;  ///< NAME=VALUE each; ends with nullptr
  int input;                 ///< becomes its standard input
  std::optional<rlimit> descriptors;
};

/// The program leads a process group of its own, blocks no signal, ignores neither SIGPIPE nor
/// SIGCHLD, and has no descriptor of ours but standard output and error. 0, and its number in
/// `pid`; or the errno value that says why it does not run, and there is no process.
[[nodiscard]] int start_process(const Launch& launch, pid_t& pid);

}  // namespace tarry::relay
