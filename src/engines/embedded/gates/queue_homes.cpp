#include "engines/embedded/gates/queue_homes.h"

#include <mutex>

namespace tarry::embedded {

Error changes_order(std::string_view queue) {
  return {ErrorCode::unavailable,
          "queue " + std::string(queue) + " is being given another group_order; try again"};
}

Error order_is_kept(std::string_view queue, std::uint64_t messages) {
  return {ErrorCode::conflict,
          "queue " + std::string(queue) + " has " + std::to_string(messages) +
              (messages == 1 ? " message" : " messages") +
              "; group_order can be changed only while it has none, not even dead or remembered "
              "ones"};
}

QueueHomes::Route QueueHomes::route(std::string_view queue) const {
  Route route{version(), false, false};  // the version first: a change meanwhile makes it old
  if (route.version == 0) return route;
  const std::shared_lock lock(mutex_);
  if (const auto found = states_.find(queue); found != states_.end()) {
    route.at_home = found->second.at_home;
    route.changing = found->second.changing;
  }
  return route;
}

// The mutex is held.
void QueueHomes::note(const std::string& queue, State state) {
  if (state.at_home || state.changing) {
    states_[queue] = state;
  } else {
    states_.erase(queue);
  }
  version_.fetch_add(1);
}

void QueueHomes::set(const std::string& queue, bool at_home) {
  if (version() == 0 && !at_home) return;
  const std::scoped_lock lock(mutex_);
  const auto found = states_.find(queue);
  State state = found == states_.end() ? State() : found->second;
  if (state.at_home == at_home) return;
  state.at_home = at_home;
  note(queue, state);
}

bool QueueHomes::begin_change(const std::string& queue) {
  const std::scoped_lock lock(mutex_);
  const auto found = states_.find(queue);
  State state = found == states_.end() ? State() : found->second;
  if (state.changing) return false;
  state.changing = true;
  note(queue, state);
  return true;
}

void QueueHomes::end_change(const std::string& queue) {
  const std::scoped_lock lock(mutex_);
  const auto found = states_.find(queue);
  if (found == states_.end()) return;
  note(queue, {found->second.at_home, false});
}

}  // namespace tarry::embedded
