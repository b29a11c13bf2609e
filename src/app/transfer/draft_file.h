// DraftFile: a file that is there whole or not at all: written as FILE.part, synced, renamed. What
// was kept of it when it was not ended is gone on with. Or standard output, as it comes.
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
  /// `path` "-": standard output. `stop` ends what waits for its reader; it outlives this.
  explicit DraftFile(std::string path, const base::StopEvent* stop = nullptr)
      : path_(std::move(path)), stop_(stop) {}
  ~DraftFile();  // what was neither published nor kept goes
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;

  [[nodiscard]] bool is_file() const noexcept { return path_ != "-"; }
  /// The name of the unfinished one.
  [[nodiscard]] std::string draft() const { return path_ + ".part"; }

  /// Errors: `conflict` where there is such a file, or another process writes it; else why it
  /// cannot be made.
  [[nodiscard]] Result<void> open();
  /// How long the unfinished one is, that an earlier run has kept.
  [[nodiscard]] Result<std::uint64_t> size() const;
  /// Once it is open: goes on behind so many bytes of it.
  [[nodiscard]] Result<void> go_on(std::uint64_t bytes);
  /// Visits each line that is there; what is written next still goes behind them. Errors: the
  /// visit's, which ends it; the file system's.
  [[nodiscard]] Result<void> read_lines(
      const std::function<Result<void>(std::string_view line)>& visit) const;
  /// Errors: `closed` for a stop while standard output took no more; else why not.
  [[nodiscard]] Result<void> write_line(std::string_view line);
  /// Whatever becomes of us, what is written so far stays. Answers how many bytes.
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
