#include "open/store_tools.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/text.h"
#include "engines/embedded/store_files.h"
#include "open/store_url.h"
#include "storage/posix_storage.h"

namespace tarry::tools {

Result<std::string> path_of_store(std::string_view url) {
  auto parsed = detail::parse_store_url(url);
  if (!parsed) return std::move(parsed).error();
  auto* embedded = std::get_if<detail::EmbeddedUrl>(&*parsed);
  if (embedded == nullptr || embedded->path.empty()) {
    return Unexpected(ErrorCode::unsupported,
                      "only a store on this machine's disk has files to look at; use file:PATH");
  }
  return std::move(embedded->path);
}

Result<void> require_store(const std::string& path) {
  auto directory = storage::open_directory(path, false);
  if (!directory && directory.error().code != ErrorCode::not_found) {
    return std::move(directory).error();
  }
  if (directory) {
    auto identity = embedded::read_identity(**directory);
    if (!identity) return std::move(identity).error();
    if (*identity) return {};
  }
  return Unexpected(ErrorCode::not_found, "there is no store at " + base::quoted(path));
}

Result<StoreInspection> inspect_store(const std::string& path, bool deep,
                                      const Progress& progress) {
  if (auto there = require_store(path); !there) return std::move(there).error();
  return embedded::inspect(path, deep, progress);
}

bool StoreAudit::balanced() const noexcept {
  return std::ranges::all_of(queues, [](const QueueAudit& q) { return q.difference() == 0; });
}

StoreAudit audit(const StoreStats& stats) {
  StoreAudit result;
  result.queues.reserve(stats.queues.size());
  for (const QueueStats& queue : stats.queues) {
    const QueueCounters& count = queue.counters;
    QueueAudit& line = result.queues.emplace_back();
    line.queue = queue.queue;
    line.accepted = count.accepted;
    line.present = queue.scheduled + queue.ready + queue.leased + queue.dead;
    line.ended = count.acked + count.cancelled + count.replaced + count.expired + count.purged +
                 count.moved_away;
  }
  return result;
}

}  // namespace tarry::tools
