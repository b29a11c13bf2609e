#include "server/audit/recent.h"

namespace tarry::audit {

void Recent::add(std::string_view lines, std::size_t count) {
  last_ += count;
  for (; !lines.empty(); --count) {
    const std::size_t end = lines.find('\n');
    // A batch has thousands of lines: those that would be dropped at once are not copied.
    if (count <= kMostLines) {
      lines_.emplace_back(lines.substr(0, end));
      bytes_ += lines_.back().size();
    }
    lines.remove_prefix(end + 1);
  }
  while (lines_.size() > kMostLines || bytes_ > kMostBytes) {
    bytes_ -= lines_.front().size();
    lines_.pop_front();
  }
}

}  // namespace tarry::audit
