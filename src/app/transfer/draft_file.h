// DraftFile: a file that appears whole or not at all. It is written as FILE.part, synced, and
// renamed. If an earlier run has kept its FILE.part, writing can continue there. A DraftFile may
// also be standard output, which is written directly.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <tarry/result.h>

#include "base/threads/stop_event.h"

namespace tarry::app::transfer {

class DraftFile {
 public:
  /// `path` "-" means standard output. `stop` ends a wait for the reader of standard output; it
  /// must outlive this object.
  explicit DraftFile(std::string path, const base::StopEvent* stop = nullptr)
      : path_(std::move(path)), stop_(stop) {}
  ~DraftFile();  // removes a file that was neither published nor kept
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;

  [[nodiscard]] bool is_file() const noexcept { return path_ != "-"; }
  /// The name of the unfinished file.
  [[nodiscard]] std::string draft() const { return path_ + ".part"; }

  /// Makes or opens the unfinished file. Errors: `conflict` if the final file exists, or another
  /// process is writing it; otherwise the reason why it cannot be made.
  [[nodiscard]] Result<void> open();
  /// The size of the unfinished file that an earlier run has kept.
  [[nodiscard]] Result<std::uint64_t> size() const;
  /// Call `go_on` after `open`: continues after the first `bytes` bytes of the kept file, and drops
  /// the rest.
  [[nodiscard]] Result<void> go_on(std::uint64_t bytes);
  /// Visits each line in the file; later writes are still appended. Errors: those of the file
  /// system; the error of a visit, which ends the reading.
  [[nodiscard]] Result<void> read_lines(
      const std::function<Result<void>(std::string_view line)>& visit) const;
  /// Appends a line. Errors: `closed` if a stop came while standard output took no more bytes;
  /// otherwise the reason why it cannot be written.
  [[nodiscard]] Result<void> write_line(std::string_view line);
  /// Makes everything written so far durable, so that a later run can continue there. Returns how
  /// many bytes there are.
  [[nodiscard]] Result<std::uint64_t> keep();
  /// Writes out the rest, and renames the file to its final name.
  [[nodiscard]] Result<void> publish();

 private:
  [[nodiscard]] Result<void> write_out();

  std::string path_;
  const base::StopEvent* stop_;
  int fd_ = -1;
  bool kept_ = false;
  std::uint64_t written_ = 0;
  std::string buffer_;
};

}  // namespace tarry::app::transfer
