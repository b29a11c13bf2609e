#include "app/output/exit_codes.h"

namespace tarry::app {

ExitCode exit_code(Outcome outcome) noexcept {
  switch (outcome) {
    case Outcome::pushed:
    case Outcome::kept:
    case Outcome::replaced:
    case Outcome::moved:
    case Outcome::cancelled:
    case Outcome::rescheduled:
    case Outcome::revived:
    case Outcome::done: return ExitCode::done;
    case Outcome::exists:
    case Outcome::in_flight:
    case Outcome::settled:
    case Outcome::stopping:
    case Outcome::stale: return ExitCode::conflict;
    case Outcome::unknown: return ExitCode::unknown;
  }
  return ExitCode::failed;
}

ExitCode exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::too_large:
    case ErrorCode::misuse: return ExitCode::usage;
    case ErrorCode::not_found: return ExitCode::unknown;
    case ErrorCode::conflict: return ExitCode::conflict;
    case ErrorCode::unavailable:
    case ErrorCode::closed: return ExitCode::unreachable;
    case ErrorCode::unsupported:
    case ErrorCode::no_space:
    case ErrorCode::unknown_outcome:
    case ErrorCode::damaged:
    case ErrorCode::io_error:
    case ErrorCode::permission_denied: return ExitCode::failed;
  }
  return ExitCode::failed;
}

ExitCode exit_code_of_open(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::conflict:
    case ErrorCode::permission_denied:
    case ErrorCode::not_found: return ExitCode::unreachable;
    default: return exit_code(code);
  }
}

namespace {

int badness(ExitCode code) noexcept {
  switch (code) {
    case ExitCode::done: return 0;
    case ExitCode::unknown: return 1;
    case ExitCode::conflict: return 2;
    case ExitCode::usage: return 3;
    case ExitCode::failed: return 4;
    case ExitCode::unreachable: return 5;
  }
  return 6;
}

}  // namespace

ExitCode worst(ExitCode a, ExitCode b) noexcept { return badness(a) >= badness(b) ? a : b; }

}  // namespace tarry::app
