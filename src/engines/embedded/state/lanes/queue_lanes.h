// QueueLanes: the due messages of one queue of one shard. Messages without a group stand in the
// plain lanes (ready_lanes.h). Once the queue has a message with a group, there are also turns
// (group_turns.h).
//
// Thread safety: none; the shard's thread owns it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <tarry/settings.h>

#include "engines/embedded/state/lanes/group_turns.h"
#include "engines/embedded/state/lanes/ready_lanes.h"

namespace tarry::embedded {

class QueueLanes {
 public:
  QueueLanes(MessageSlab& slab, HandleBlocks& blocks) : slab_(&slab), plain_(slab, blocks) {}

  /// A new message belongs to the group. `order`: the queue's.
  void join(Handle handle, std::string_view group, GroupOrder order);
  void set_order(GroupOrder order) {
    if (groups_) groups_->set_order(order);
  }
  /// False if the order of its group holds the message, whatever its stage.
  [[nodiscard]] bool order_permits(Handle handle) const {
    const Group* const group = group_of(handle);
    return group == nullptr || groups_->order_permits(*group, handle);
  }
  [[nodiscard]] bool has_groups() const noexcept { return groups_ != nullptr; }
  /// Null if no message has had a group.
  [[nodiscard]] GroupTurns* groups() const noexcept { return groups_.get(); }
  /// Null if the message has none.
  [[nodiscard]] Group* group_of(Handle handle) const {
    return groups_ ? groups_->of(handle) : nullptr;
  }

  void insert(Handle handle) {
    if (groups_) return insert_grouped(handle);
    plain_.insert(handle);
  }
  void remove(Handle handle) {
    if (groups_) return remove_grouped(handle);
    plain_.remove(handle);
  }
  /// The message that the next claim gets: the first one of the group whose turn it is. kNoHandle
  /// if none is ready, or if the limits or the orders of all groups hold them.
  [[nodiscard]] Handle first() const {
    if (!groups_) return plain_.first();
    const Group* const group = groups_->front();
    return group == nullptr ? kNoHandle : first_of(*group);
  }
  /// The turn of the group of `first` is over.
  void pass() noexcept {
    if (groups_) groups_->pass();
  }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::uint64_t size() const noexcept {
    return plain_.size() + (groups_ ? groups_->size() : 0);
  }
  /// The earliest due time of any ready message; only while not empty.
  [[nodiscard]] std::int64_t oldest_due_ms() const noexcept;

  /// Passes messages that will be claimed soon, after the first `skip`, to `visit`, until `visit`
  /// returns false. Leaves some out.
  template <typename F>
  void visit_behind(std::size_t skip, F&& visit) const {
    if (!groups_) return plain_.visit_behind(skip, visit);
    for (const Group* group = groups_->front(); group != nullptr; group = group->next) {
      if (skip > 0) {
        --skip;
      } else if (!visit(first_of(*group))) {
        return;
      }
    }
  }

  /// Removes every message due after `now_ms` (the clock stepped back) and passes it to `removed`.
  template <typename F>
  void remove_later_than(std::int64_t now_ms, F&& removed) {
    plain_.remove_later_than(now_ms, removed);
    if (!groups_) return;
    groups_->set_plain(!plain_.empty());
    for (const Handle handle : groups_->later_than(now_ms)) {
      remove(handle);
      removed(handle);
    }
  }

 private:
  [[nodiscard]] Handle first_of(const Group& group) const {
    return group.name == nullptr ? plain_.first() : groups_->first_of(group);
  }
  void insert_grouped(Handle handle);
  void remove_grouped(Handle handle);

  MessageSlab* slab_;
  ReadyLanes plain_;
  std::unique_ptr<GroupTurns> groups_;
};

}  // namespace tarry::embedded
