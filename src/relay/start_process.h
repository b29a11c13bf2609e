// Starts a program as posix_spawn does, but can also set the program's limit of open files.
// (Lowering the limit from outside after the start would be too late for a program that reads it at
// its beginning.)
//
// Thread safety: from any thread; other threads of the process keep running meanwhile.
#pragma once

#include <optional>

#include <sys/resource.h>
#include <sys/types.h>

namespace tarry::relay {

struct Launch {
  char* const* words;  ///< the program (looked for in PATH) and its arguments; ends with nullptr
  char* const* environment;  ///< NAME=VALUE each; ends with nullptr
  int input;                 ///< becomes its standard input
  std::optional<rlimit> descriptors;
};

/// The program leads a process group of its own, blocks no signal, ignores neither SIGPIPE nor
/// SIGCHLD, and has none of our descriptors except standard output and error. Returns 0 and sets
/// `pid`; or returns the errno value of the failure, and there is no process.
[[nodiscard]] int start_process(const Launch& launch, pid_t& pid);

}  // namespace tarry::relay
