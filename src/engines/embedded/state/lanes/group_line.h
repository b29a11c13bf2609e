// GroupLine: the messages of each group of a queue that have not ended, dead ones left out, in the
// order in which they were accepted. A message keeps its id when it comes back, and so its place.
//
// Thread safety: none; the shard's thread owns it.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "engines/embedded/records/handle.h"
#include "engines/embedded/state/lanes/group_list.h"

namespace tarry::embedded {

class GroupLine {
 public:
  void insert(const Group& group, std::uint64_t id, Handle handle) {
    line_.emplace(std::pair(&group, id), handle);
  }
  void erase(const Group& group, std::uint64_t id) { line_.erase(std::pair(&group, id)); }

  /// The group's oldest message; kNoHandle if it has none.
  [[nodiscard]] Handle first(const Group& group) const {
    const auto found = line_.lower_bound(std::pair(&group, std::uint64_t{0}));
    return found != line_.end() && found->first.first == &group ? found->second : kNoHandle;
  }
  /// True if no message of the group is older than the message with this id, which may be dead.
  [[nodiscard]] bool is_first(const Group& group, std::uint64_t id) const {
    const auto found = line_.lower_bound(std::pair(&group, std::uint64_t{0}));
    return found == line_.end() || found->first.first != &group || found->first.second >= id;
  }

 private:
  // All groups share one map, so that a group without messages takes nothing here.
  std::map<std::pair<const Group*, std::uint64_t>, Handle> line_;
};

}  // namespace tarry::embedded
