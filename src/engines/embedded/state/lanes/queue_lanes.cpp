#include "engines/embedded/state/lanes/queue_lanes.h"

#include <limits>

namespace tarry::embedded {

void QueueLanes::join(Handle handle, std::string_view group, GroupOrder order) {
  if (!groups_) {
    groups_ = std::make_unique<GroupTurns>(*slab_, order);
    groups_->set_plain(!plain_.empty());
  }
  groups_->join(handle, group);
}

void QueueLanes::insert_grouped(Handle handle) {
  if (Group* const group = groups_->of(handle)) return groups_->insert(*group, handle);
  plain_.insert(handle);
  groups_->set_plain(true);
}

void QueueLanes::remove_grouped(Handle handle) {
  if (Group* const group = groups_->of(handle)) return groups_->remove(*group, handle);
  plain_.remove(handle);
  groups_->set_plain(!plain_.empty());
}

std::int64_t QueueLanes::oldest_due_ms() const noexcept {
  const std::int64_t plain =
      plain_.empty() ? std::numeric_limits<std::int64_t>::max() : plain_.oldest_due_ms();
  return groups_ && groups_->size() != 0 ? std::min(plain, groups_->oldest_due_ms()) : plain;
}

}  // namespace tarry::embedded
