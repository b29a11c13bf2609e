// GroupTurns: the groups of one queue of one shard, and whose turn it is. The groups with ready
// messages take turns: each turn gives a claim one message of a group. So the next message of a
// group never waits for more than one message of each other group.
//
// The messages without a group take their turns together, as one group more. They stand in the
// queue's plain lanes (queue_lanes.h).
//
// If the queue keeps the order of pushes (`group_order` push), only the oldest message of a group
// that has not ended can be claimed, and no other one is leased meanwhile.
//
// Thread safety: none; the shard's thread owns it.
//
// Invariants
//  1. A group is there while it has messages, in any stage but remembered, or leases to give back.
//  2. A group with ready messages is in the turn, or held: by a limit, or by the order of pushes.
//     It joins the turn at its end.
//  3. A ready message keeps its place in its group's heap in `next`, and its place in the heap by
//     due time in `prev`.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tarry/settings.h>

#include "base/string_hash.h"
#include "engines/embedded/gates/group_leases.h"
#include "engines/embedded/state/lanes/group_line.h"
#include "engines/embedded/state/lanes/group_list.h"

namespace tarry::embedded {

class GroupTurns {
 public:
  GroupTurns(MessageSlab& slab, GroupOrder order) : slab_(&slab) { set_order(order); }
  GroupTurns(const GroupTurns&) = delete;
  GroupTurns& operator=(const GroupTurns&) = delete;

  /// The queue has another order from now on.
  void set_order(GroupOrder order);
  /// A new message belongs to the group.
  void join(Handle handle, std::string_view group);
  /// Null if the message has none.
  [[nodiscard]] Group* of(Handle handle) const;
  /// Call `note_stage` when a message has gone from one stage to another. A message that has ended,
  /// also one that is remembered, leaves its group. `counts`: a lease that ends is to be given back
  /// to the gate.
  void note_stage(Handle handle, Stage from, Stage to, bool counts);

  // -- ready messages
  void insert(Group& group, Handle handle);
  void remove(Group& group, Handle handle);
  /// The messages without a group: whether any is ready.
  void set_plain(bool any_ready);
  [[nodiscard]] std::uint64_t size() const noexcept { return by_due_.size(); }
  /// Only while `size` is not 0.
  [[nodiscard]] std::int64_t oldest_due_ms() const noexcept {
    return (*slab_)[by_due_.top()].due_ms();
  }
  [[nodiscard]] std::vector<Handle> later_than(std::int64_t now_ms) const;

  /// The message that the next claim gets of a group whose turn it is.
  [[nodiscard]] Handle first_of(const Group& group) const;
  /// False if the order of pushes holds the message, whatever its stage.
  [[nodiscard]] bool order_permits(const Group& group, Handle handle) const;

  // -- the turn
  /// Whose turn it is. Null if no group takes turns.
  [[nodiscard]] Group* front() const noexcept { return turn_.front(); }
  /// The turn of the first group is over.
  void pass() noexcept;
  /// The group's limit is reached.
  void hold(Group& group) noexcept;
  /// The group's limit may permit more again; it joins the turn if it was held.
  void readmit(Group& group) noexcept;
  void readmit(const std::string& name) noexcept;
  void readmit_all() noexcept;
  [[nodiscard]] std::uint64_t ready_groups() const noexcept { return turn_.size() + held_.size(); }
  [[nodiscard]] std::uint64_t held_groups() const noexcept { return held_.size(); }

  // -- leases
  /// A lease of the group has ended or was not used.
  void note_freed(Group& group);
  /// Of each group the leases to give back. Returns them once.
  [[nodiscard]] std::vector<GroupLeases::Count> take_freed();
  /// Of each group the messages that are leased, and the leases to give back.
  [[nodiscard]] std::vector<GroupLeases::Count> counted() const;

 private:
  /// Whether a claim may take a message of the group, which has ready ones.
  [[nodiscard]] bool may_go(const Group& group) const;
  /// Its messages have changed, so it may be another one's turn.
  void refit(Group& group);
  void set_standing(Group& group, Group::Standing standing) noexcept;
  void erase_if_done(Group& group);
  [[nodiscard]] ClaimOrder claim_order() const noexcept { return {slab_}; }
  [[nodiscard]] DueOrder due_order() const noexcept { return {slab_}; }

  MessageSlab* slab_;
  std::unordered_map<std::string, Group, base::StringHash, std::equal_to<>> groups_;
  std::unordered_map<Handle, Group*> group_of_;
  Group plain_;
  GroupList turn_;
  GroupList held_;
  HandleHeap<DueOrder> by_due_;
  std::vector<Group*> freed_;
  std::unique_ptr<GroupLine> line_;  // null: by priority and due time
};

}  // namespace tarry::embedded
