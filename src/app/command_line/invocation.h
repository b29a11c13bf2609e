// Invocation: the context of one run of the program: which store it uses, and where its answers go.
//
// Thread safety: one thread at a time.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/clock.h>
#include <tarry/store.h>

#include "app/output/exit_codes.h"
#include "app/output/output.h"

namespace tarry::app {

inline constexpr std::string_view kDefaultStore = "http://127.0.0.1:7733";

class Invocation;
using Action = std::function<ExitCode(Invocation&)>;

/// How a command opens its store.
struct Access {
  bool create = false;  // makes a missing file: store
  std::optional<ManualClock> clock = {};
  Log log = {};  // where the store's own log goes; empty: to stderr
  // Called for a new store; empty: prints a note.
  std::function<void(const std::string& directory)> made = {};
  /// Called when a store on another machine is unreachable. It returns whether to try again. If it
  /// is empty, `open` does not try again.
  std::function<bool(const Error&)> again = {};
};

class Invocation {
 public:
  Output output;
  std::string store;                  // --store; empty: not given
  std::vector<std::string> trailing;  // the words after `--`, for `work`
  Action action;                      // the command that was chosen

  /// The URL of the store: that of --store, otherwise that of TARRY_STORE, otherwise the local
  /// server.
  [[nodiscard]] std::string url() const;
  /// Whether the store is a `memory:` store, which belongs to this process alone and ends with it.
  [[nodiscard]] bool is_fleeting() const { return url().starts_with("memory:"); }
  /// Call `note_if_fleeting` after a push: for a `memory:` store it prints a note that the messages
  /// end with the process.
  void note_if_fleeting();

  /// Opens url(). On failure it prints the reason, sets `code` to the exit code and returns
  /// nothing. Recovery of a big `file:` store shows its progress.
  [[nodiscard]] std::optional<Store> open(ExitCode& code, Access access = {});
  [[nodiscard]] std::optional<Store> open(const std::string& url, Access access, ExitCode& code);
};

}  // namespace tarry::app
