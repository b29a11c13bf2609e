#include "engines/embedded/recovery/recovery.h"

#include <algorithm>

#include "engines/embedded/recovery/recovery_run.h"

namespace tarry::embedded {

Result<Recovered> RecoveryRun::run() {
  if (auto done = open_segments(); !done) return std::move(done).error();
  if (auto done = drop_unwritten(); !done) return std::move(done).error();
  if (auto done = check_begun(); !done) return std::move(done).error();
  if (segments_.empty()) mark(doomed_.empty() ? Row::s1 : Row::s1_after_s2);
  if (!segments_.empty()) {
    if (auto done = find_low_water(); !done) return std::move(done).error();
    if (auto done = drop_below_low_water(); !done) return std::move(done).error();
    if (auto done = replay_all(); !done) return std::move(done).error();
  }
  if (auto done = check_unwritten(); !done) return std::move(done).error();
  if (auto done = settle_tail(); !done) return std::move(done).error();
  return std::move(recovered_);
}

// Segments are torn from the last to the first, so the report keeps the earliest tear.
void RecoveryRun::tear(std::uint64_t segment, std::uint64_t offset, std::uint64_t bytes) {
  RecoveryReport& report = recovered_.report;
  report.torn_bytes += bytes;
  report.torn_segment = segment;
  report.torn_offset = offset;
}

void RecoveryRun::cut(std::uint64_t segment, std::uint64_t batches) {
  if (batches == 0) return;
  RecoveryReport& report = recovered_.report;
  report.cut_batches += batches;
  report.last_cut_segment = std::max(report.last_cut_segment, segment);
}

Unexpected RecoveryRun::damage(std::uint64_t segment, std::uint64_t offset,
                               const std::string& what) const {
  return Unexpected(ErrorCode::damaged, directory_.path() + "/" + segment_name(segment) +
                                            " offset " + std::to_string(offset) + ": " + what);
}

Unexpected RecoveryRun::missing(Row row, std::uint64_t segment) const {
  mark(row);
  return Unexpected(ErrorCode::damaged,
                    directory_.path() + "/" + segment_name(segment) + " is missing");
}

Result<Recovered> recover(storage::Directory& directory, SegmentFiles& files, ShardState& state,
                          const RecoveryOptions& options) {
  return RecoveryRun(directory, files, state, options).run();
}

std::string describe_tear(const RecoveryReport& report) {
  const auto count = [](std::uint64_t number) { return std::to_string(number); };
  std::string text = "a torn tail of " + count(report.torn_bytes) + " bytes from " +
                     segment_name(report.torn_segment) + " offset " + count(report.torn_offset) +
                     " on";
  if (report.cut_batches > 0) {
    text += ", and with it " + count(report.cut_batches) +
            (report.cut_batches == 1 ? " batch" : " batches") + " behind it that check, up to " +
            segment_name(report.last_cut_segment);
  }
  return text + ": acknowledged to nobody with sync=always, but perhaps with sync=100ms or os";
}

Result<std::uint64_t> journal_bytes(storage::Directory& directory) {
  auto names = directory.list();
  if (!names) return std::move(names).error();
  std::uint64_t sum = 0;
  for (const std::string& name : *names) {
    if (segment_number(name) == 0) continue;
    auto file = open_segment(directory, name, storage::OpenMode::read_only);
    if (!file && file.error().code == ErrorCode::damaged) continue;  // for `recover` to tell
    if (!file) return std::move(file).error();
    auto size = (*file)->size();
    if (!size) return std::move(size).error();
    sum += *size;
  }
  return sum;
}

}  // namespace tarry::embedded
