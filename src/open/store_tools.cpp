#include "open/store_tools.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "engines/embedded/journal/journal_format.h"
#include "engines/embedded/store/store_files.h"
#include "engines/embedded/store/store_lock.h"
#include "open/urls/store_url.h"
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

Result<std::string> directory_of(const std::string& word) {
  const auto is_of_scheme = [&](char c) {
    return base::is_letter(c) || base::is_digit(c) || c == '+' || c == '-';
  };
  const std::size_t colon = word.find(':');
  const bool is_url =
      word.starts_with("file:") || word.starts_with("memory:") ||
      (colon != std::string::npos && word.substr(colon).starts_with("://") &&
       std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(colon), is_of_scheme));
  if (!is_url) return word;
  auto path = path_of_store(word);
  // A URL of another kind of store may have other errors too, but it certainly names no directory.
  if (!path && !word.starts_with("file:")) {
    return Unexpected(ErrorCode::unsupported, "it is no directory, but another kind of store");
  }
  return path;
}

Result<StoreFormat> format_of_store(const std::string& path) {
  auto directory = storage::open_directory(path, false);
  if (!directory && directory.error().code != ErrorCode::not_found) {
    return std::move(directory).error();
  }
  if (directory) {
    auto identity = embedded::read_identity(**directory);
    if (!identity) return std::move(identity).error();
    if (*identity) return StoreFormat{(*identity)->version, embedded::kFormatVersion};
  }
  return Unexpected(ErrorCode::not_found, "there is no store at " + base::quoted(path));
}

Result<StoreFormat> upgrade_store(const std::string& path) {
  auto format = format_of_store(path);
  if (!format || format->version == format->newest) return format;
  auto directory = storage::open_directory(path, false);
  if (!directory) return std::move(directory).error();
  const auto lock = embedded::lock_store(**directory, "tarry store upgrade");
  if (!lock) return lock.error();
  const auto identity = embedded::read_identity(**directory);
  if (!identity) return identity.error();
  auto raised = embedded::raise_version(**directory, **identity, format->newest);
  if (!raised) return std::move(raised).error();
  return format_of_store(path);
}

Result<void> require_store(const std::string& path) {
  auto format = format_of_store(path);
  if (!format) return std::move(format).error();
  return {};
}

Result<StoreInspection> inspect_store(const std::string& path, bool deep,
                                      const Progress& progress) {
  if (auto there = require_store(path); !there) return std::move(there).error();
  return embedded::inspect(path, deep, progress);
}

namespace {

namespace fs = std::filesystem;

// Follows links, as far as the path exists.
fs::path real(const std::string& path) {
  std::error_code failed;
  fs::path absolute = fs::absolute(path, failed);
  fs::path found = fs::weakly_canonical(absolute, failed);
  return failed ? absolute.lexically_normal() : found;
}

bool lies_within(const std::string& path, const std::string& outer) {
  const fs::path inside = real(path);
  const fs::path around = real(outer);
  const auto [end, rest] =
      std::mismatch(around.begin(), around.end(), inside.begin(), inside.end());
  return end == around.end() || end->empty();  // empty if it ended in a slash
}

}  // namespace

Result<void> check_new_place(const std::string& path) {
  fs::path around = real(path);
  while (around.has_relative_path()) {
    around = around.parent_path();
    if (!format_of_store(around.string())) continue;
    return Unexpected(ErrorCode::invalid_argument, base::quoted(path) + " lies in another store, " +
                                                       base::quoted(around.string()));
  }
  return {};
}

Result<SalvageReport> salvage_store(const std::string& path, const std::string& target,
                                    const Progress& progress) {
  auto source = storage::open_directory(path, false);
  if (!source) {
    if (source.error().code != ErrorCode::not_found) return std::move(source).error();
    return Unexpected(ErrorCode::not_found, "there is no store at " + base::quoted(path));
  }
  if (lies_within(target, path)) {
    return Unexpected(ErrorCode::invalid_argument,
                      base::quoted(target) + " lies in the store that is not to be changed");
  }
  std::error_code failed;
  const bool was_there = fs::exists(target, failed);
  auto made = storage::open_directory(target, true);
  if (!made) return std::move(made).error();
  embedded::SalvageOptions options;
  options.progress = progress;
  auto report = embedded::salvage(**source, **made, options);
  // Salvage refuses before it writes anything: if the directory is new, it is removed too.
  if (!report && !was_there) fs::remove(target, failed);
  return report;
}

Result<BackupReport> backup_store(const std::string& path, const std::string& target,
                                  const Progress& progress) {
  if (auto there = require_store(path); !there) return std::move(there).error();
  if (lies_within(target, path)) {
    return Unexpected(ErrorCode::invalid_argument,
                      base::quoted(target) + " lies in the store that it is to be a backup of");
  }
  auto source = storage::open_directory(path, false);
  if (!source) return std::move(source).error();
  auto made = storage::open_directory(target, true);
  if (!made) return std::move(made).error();
  return embedded::backup(**source, **made, progress);
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
