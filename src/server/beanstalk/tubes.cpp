#include "server/beanstalk/tubes.h"

namespace tarry::beanstalk {

Tube& Tubes::at(std::string_view name) {
  const auto found = all_.find(name);
  return found != all_.end() ? found->second : all_[std::string(name)];
}

Tube* Tubes::find(std::string_view name) noexcept {
  const auto found = all_.find(name);
  return found != all_.end() ? &found->second : nullptr;
}

void Tubes::tidy(std::string_view name) {
  const auto found = all_.find(name);
  if (found == all_.end()) return;
  const Tube& tube = found->second;
  if (!tube.is_open() && !tube.seen && tube.waiting == 0) all_.erase(found);
}

bool Tubes::is_open(std::string_view name) const noexcept {
  if (name == kDefaultTube) return true;
  const auto found = all_.find(name);
  return found != all_.end() && found->second.is_open();
}

JobNote& JobNotes::at(std::uint64_t job, std::string_view tube, std::string_view key) {
  if (const auto found = notes_.find(job); found != notes_.end()) return found->second;
  if (order_.size() == kMost) {
    notes_.erase(order_.front());
    order_.pop_front();
  }
  order_.push_back(job);
  return notes_[job] = JobNote{std::string(tube), std::string(key)};
}

const JobNote* JobNotes::find(std::uint64_t job) const noexcept {
  const auto found = notes_.find(job);
  return found != notes_.end() ? &found->second : nullptr;
}

}  // namespace tarry::beanstalk
