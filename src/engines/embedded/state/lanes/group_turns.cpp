#include "engines/embedded/state/lanes/group_turns.h"

#include <utility>

#include "base/planted.h"

namespace tarry::embedded {
namespace {

bool waits(Stage stage) noexcept {
  return stage == Stage::scheduled || stage == Stage::ready || stage == Stage::leased;
}

// With these bugs a claim takes any ready message of a group.
bool order_is_broken() noexcept {
  return TARRY_PLANTED_BUG(group_overtaken) || TARRY_PLANTED_BUG(group_leased_twice);
}

}  // namespace

void GroupTurns::set_order(GroupOrder order) {
  if ((order == GroupOrder::push) == (line_ != nullptr)) return;
  line_ = order == GroupOrder::push ? std::make_unique<GroupLine>() : nullptr;
  // A queue gets another order only while it has no messages; a journal that was salvaged may have
  // some.
  for (const auto& [handle, group] : group_of_) {
    if (line_ && waits((*slab_)[handle].stage()))
      line_->insert(*group, (*slab_)[handle].id, handle);
  }
  for (auto& [name, group] : groups_) refit(group);
}

void GroupTurns::join(Handle handle, std::string_view name) {
  auto found = groups_.find(name);
  if (found == groups_.end()) {
    found = groups_.try_emplace(std::string(name)).first;
    found->second.name = &found->first;
  }
  Group& group = found->second;
  group_of_.emplace(handle, &group);
  ++group.messages;
  if (line_) line_->insert(group, (*slab_)[handle].id, handle);
}

Group* GroupTurns::of(Handle handle) const {
  const auto found = group_of_.find(handle);
  return found == group_of_.end() ? nullptr : found->second;
}

void GroupTurns::note_stage(Handle handle, Stage from, Stage to, bool counts) {
  Group* const group = of(handle);
  if (group == nullptr) return;
  if (to == Stage::leased) ++group->leased;
  if (from == Stage::leased) {
    --group->leased;
    if (counts) note_freed(*group);
  }
  if (line_) {
    const std::uint64_t id = (*slab_)[handle].id;
    if (!waits(to)) line_->erase(*group, id);
    if (from == Stage::dead && waits(to)) line_->insert(*group, id, handle);
    refit(*group);
  }
  if (to != Stage::free && to != Stage::remembered) return;
  group_of_.erase(handle);
  --group->messages;
  erase_if_done(*group);
}

bool GroupTurns::order_permits(const Group& group, Handle handle) const {
  if (!line_ || order_is_broken()) return true;
  return group.leased == 0 && line_->is_first(group, (*slab_)[handle].id);
}

Handle GroupTurns::first_of(const Group& group) const {
  return line_ && !order_is_broken() ? line_->first(group) : group.ready.top();
}

bool GroupTurns::may_go(const Group& group) const {
  if (!line_) return true;
  if (group.leased != 0) return TARRY_PLANTED_BUG(group_leased_twice);
  if (order_is_broken()) return true;
  const Handle first = line_->first(group);
  return first != kNoHandle && (*slab_)[first].stage() == Stage::ready;
}

void GroupTurns::refit(Group& group) {
  if (group.ready.empty()) {
    if (group.standing != Group::Standing::idle) set_standing(group, Group::Standing::idle);
  } else if (!may_go(group)) {
    if (group.standing != Group::Standing::held) set_standing(group, Group::Standing::held);
  } else if (group.standing != Group::Standing::in_turn) {
    set_standing(group, Group::Standing::in_turn);
  }
}

void GroupTurns::erase_if_done(Group& group) {
  if (group.messages != 0 || group.noted) return;
  TARRY_ASSERT(group.standing == Group::Standing::idle);
  groups_.erase(groups_.find(*group.name));
}

void GroupTurns::set_standing(Group& group, Group::Standing standing) noexcept {
  if (group.standing == Group::Standing::in_turn) turn_.remove(group);
  if (group.standing == Group::Standing::held) held_.remove(group);
  group.standing = standing;
  if (standing == Group::Standing::in_turn) turn_.push_back(group);
  if (standing == Group::Standing::held) held_.push_back(group);
}

void GroupTurns::insert(Group& group, Handle handle) {
  group.ready.insert(claim_order(), handle);
  by_due_.insert(due_order(), handle);
  if (line_) return refit(group);
  if (group.standing == Group::Standing::idle) set_standing(group, Group::Standing::in_turn);
}

void GroupTurns::remove(Group& group, Handle handle) {
  group.ready.remove(claim_order(), handle);
  by_due_.remove(due_order(), handle);
  (*slab_)[handle].next = (*slab_)[handle].prev = kNoHandle;
  if (group.ready.empty()) set_standing(group, Group::Standing::idle);
}

void GroupTurns::set_plain(bool any_ready) {
  if (any_ready == (plain_.standing == Group::Standing::in_turn)) return;
  set_standing(plain_, any_ready ? Group::Standing::in_turn : Group::Standing::idle);
}

std::vector<Handle> GroupTurns::later_than(std::int64_t now_ms) const {
  std::vector<Handle> later;
  for (const Handle handle : by_due_.all()) {
    if ((*slab_)[handle].due_ms() > now_ms) later.push_back(handle);
  }
  return later;
}

void GroupTurns::pass() noexcept {
  if (Group* const group = front(); group != nullptr && !TARRY_PLANTED_BUG(group_starved)) {
    set_standing(*group, Group::Standing::in_turn);
  }
}

void GroupTurns::hold(Group& group) noexcept {
  if (group.standing == Group::Standing::in_turn) set_standing(group, Group::Standing::held);
}

void GroupTurns::readmit(Group& group) noexcept {
  if (group.standing == Group::Standing::held && may_go(group)) {
    set_standing(group, Group::Standing::in_turn);
  }
}

void GroupTurns::readmit(const std::string& name) noexcept {
  const auto found = groups_.find(name);
  if (found != groups_.end()) readmit(found->second);
}

void GroupTurns::readmit_all() noexcept {
  for (Group* group = held_.front(); group != nullptr;) {
    readmit(*std::exchange(group, group->next));
  }
}

void GroupTurns::note_freed(Group& group) {
  ++group.freed;
  if (!std::exchange(group.noted, true)) freed_.push_back(&group);
  readmit(group);
}

std::vector<GroupLeases::Count> GroupTurns::take_freed() {
  std::vector<GroupLeases::Count> counts;
  for (Group* const group : std::exchange(freed_, {})) {
    group->noted = false;
    if (group->freed != 0) counts.push_back({*group->name, std::exchange(group->freed, 0)});
    erase_if_done(*group);
  }
  return counts;
}

std::vector<GroupLeases::Count> GroupTurns::counted() const {
  std::vector<GroupLeases::Count> counts;
  for (const auto& [name, group] : groups_) {
    const std::uint64_t leases = std::uint64_t{group.leased} + group.freed;
    if (leases != 0) counts.push_back({name, leases});
  }
  return counts;
}

}  // namespace tarry::embedded
