// DraftFile: a file that appears whole or not at all: written as FILE.part, synced, renamed. If a
// former run kept its unfinished part, that is continued. Or standard output, written directly.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include <tarry/result.h>

#include "base/stop_event.h"

namespace tarry::app::transfer {

class DraftFile {
 public:
  /// `path` "-": standard output. `stop` ends a wait for its reader; it outlives this.
  explicit DraftFile(std::string path, const base::StopEvent* stop = nullptr)
      : path_(std::move(path)), stop_(stop) {}
  ~DraftFile();  // a file that was neither published nor kept is removed
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;

  [[nodiscard]] bool is_file() const noexcept { return path_ != "-"; }
  /// The name of the unfinished one.
  [[nodiscard]] std::string draft() const { return path_ + ".part"; }

  /// Errors: `conflict` if the file exists, or another process writes it; otherwise why it cannot
  /// be made.
  [[nodiscard]] Result<void> open();
  /// The size of the unfinished file that an earlier run has kept.
  [[nodiscard]] Result<std::uint64_t> size() const;
  /// Once it is open: continues after that many of its bytes.
  [[nodiscard]] Result<void> go_on(std::uint64_t bytes);
  /// Visits each line in the file; later writes still go after them. Errors: the visit's, which
  /// ends it; the file system's.
  [[nodiscard]] Result<void> read_lines(
      const std::function<Result<void>(std::string_view line)>& visit) const;
  /// Errors: `closed` if a stop came while standard output took no more; otherwise the reason.
  [[nodiscard]] Result<void> write_line(std::string_view line);
  /// Keeps everything written so far, whatever becomes of this process. Returns how many bytes.
  [[nodiscard]] Result<std::uint64_t> keep();
  /// Writes out the rest, and gives the file its name.
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
