// Declared: the schedules that a configuration file declares, and how a store gets them.
//
// The file and the commands each own a part of a schedule:
//   - The file owns what a schedule does and when. A schedule that the file declares is added, or
//     replaced if it differs. One that the file no longer declares is removed.
//   - Commands own whether a schedule is paused, and all schedules that no file has declared.
//   - The store remembers which schedules come from a file, and the file's revision (the queue
//     `tarry.config`). A file with a lower revision changes nothing, so that servers whose file is
//     older do not undo what newer ones have done.
// One process at a time reconciles a store: the message `lock` in that queue is claimed meanwhile.
//
// Thread safety: plain values, and a free function that blocks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>
#include <tarry/store.h>

#include "schedule/definition.h"

namespace tarry::schedule {

inline constexpr std::string_view kConfigQueue = "tarry.config";
inline constexpr std::size_t kMaxDeclared = 1'000;

struct Declared {
  std::vector<Definition> schedules;  // with different names, each checked
  std::uint64_t revision = 0;
  // False: the file says nothing of schedules. Then those of another file stay.
  bool is_given = false;

  friend bool operator==(const Declared&, const Declared&) = default;
};

struct Reconciled {
  std::vector<std::string> added;  // names
  std::vector<std::string> replaced;
  std::vector<std::string> removed;
  std::vector<Error> failed;                // one for each schedule that could not be changed
  std::optional<std::uint64_t> newer = {};  // the store's revision, if it is higher: no change
  std::size_t kept = 0;  // schedules of a file in the store, of which this file says nothing
};

/// Gives the store the schedules that are declared. Errors: those of the store's verbs;
/// `unsupported` if the store cannot keep schedules; `conflict` if another process is still
/// reconciling the store after 15 s. A process that died blocks it for 10 s at most.
[[nodiscard]] Result<Reconciled> reconcile(const Store& store, const Declared& declared);

}  // namespace tarry::schedule
