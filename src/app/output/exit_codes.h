// The program's exit codes for the shell. The numbers are an interface: scripts compare them.
#pragma once

#include <tarry/message.h>
#include <tarry/result.h>

namespace tarry::app {

enum class ExitCode : int {
  done = 0,
  failed = 1,       // the store refused or broke, or an item of a batch did
  usage = 2,        // fix the input: flags, names, sizes, times
  unknown = 3,      // no such message, no such queue
  conflict = 4,     // exists, in flight, stopping, settled, stale: nothing was changed, or too late
  unreachable = 5,  // the store cannot be reached, is not there, or another process holds it
};

/// The exit code is `done` if the verb did its work. That includes `kept`, `moved` and `replaced`,
/// which the caller allowed.
[[nodiscard]] ExitCode exit_code(Outcome outcome) noexcept;

[[nodiscard]] ExitCode exit_code(ErrorCode code) noexcept;

/// The exit code of an error of `tarry::open`. A store that another process holds, that this user
/// may not read or that does not exist counts as unreachable. The code must not be 4, which scripts
/// take for "the key exists already".
[[nodiscard]] ExitCode exit_code_of_open(ErrorCode code) noexcept;

/// The worse of two codes, for commands on several keys: done < unknown < conflict < usage < failed
/// < unreachable.
[[nodiscard]] ExitCode worst(ExitCode a, ExitCode b) noexcept;

}  // namespace tarry::app
