#include "engines/embedded/state/messages/reasons.h"

#include "base/assert.h"

namespace tarry::embedded {

std::uint32_t Reasons::acquire(std::string_view text) {
  if (text.empty()) return 0;
  auto [found, added] = numbers_.try_emplace(std::string(text), 0);
  if (added) {
    if (free_.empty()) {
      found->second = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back();
    } else {
      found->second = free_.back();
      free_.pop_back();
    }
    entries_[found->second].text = found->first;
  }
  ++entries_[found->second].uses;
  return found->second;
}

void Reasons::release(std::uint32_t number) noexcept {
  if (number == 0) return;
  Entry& entry = entries_[number];
  TARRY_ASSERT(entry.uses > 0);
  if (--entry.uses > 0) return;
  numbers_.erase(entry.text);
  entry.text.clear();
  free_.push_back(number);
}

std::string_view Reasons::text(std::uint32_t number) const noexcept {
  return entries_[number].text;
}

}  // namespace tarry::embedded
