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

/// A verb that did its work is `done`; `kept`, `moved` and `replaced` were requested too.
[[nodiscard]] ExitCode exit_code(Outcome outcome) noexcept;

[[nodiscard]] ExitCode exit_code(ErrorCode code) noexcept;

/// The same for an error of `tarry::open`: a store that another process holds, that we may not read
/// or that does not exist counts as unreachable. A script that takes 4 for "the key exists already"
/// must not see it here.
[[nodiscard]] ExitCode exit_code_of_open(ErrorCode code) noexcept;

/// With several keys the worst counts: done < unknown < conflict < usage < failed < unreachable.
[[nodiscard]] ExitCode worst(ExitCode a, ExitCode b) noexcept;

}  // namespace tarry::app
