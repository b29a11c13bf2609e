#include "server/audit/trail.h"

#include <chrono>

namespace tarry::audit {
namespace {

Time wall_clock() { return std::chrono::floor<Millis>(std::chrono::system_clock::now()); }

TakeLines append_to(File& file, Recent& recent, Trail::Written& written) {
  return [&file, &recent, &written](std::string_view lines, std::size_t count) {
    recent.add(lines, count);
    if (const auto appended = file.append(lines); appended) {
      written.lines += count;
    } else {
      written.lost += count;
      written.reason = appended.error().message;
    }
  };
}

}  // namespace

Trail::Written Trail::record(const Entry& entry, const Client& client, const Answer& answer) {
  Written written;
  if (file_ == nullptr) return written;
  write_lines(entry, client, answer, wall_clock(), append_to(*file_, recent_, written));
  return written;
}

Trail::Written Trail::record_refused_token(const Client& client, std::string_view peer,
                                           const Answer& answer) {
  Written written;
  if (file_ == nullptr) return written;
  const auto left_out = throttle_.turn(peer, RefusalThrottle::Clock::now());
  if (!left_out) return written;
  write_refused_token(client, answer, *left_out, wall_clock(), append_to(*file_, recent_, written));
  return written;
}

}  // namespace tarry::audit
