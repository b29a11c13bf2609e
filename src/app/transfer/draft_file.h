// DraftFile: a file that is there whole or not at all: written under another name, synced, renamed.
// Or standard output, as it comes.
//
// Thread safety: one thread at a time.
#pragma once

#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::app::transfer {

class DraftFile {
 public:
  /// `path` "-": standard output.
  explicit DraftFile(std::string path) : path_(std::move(path)) {}
  ~DraftFile();  // what was not published goes
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;

  /// Errors: `conflict` where there is such a file, else why it cannot be made.
  [[nodiscard]] Result<void> open();
  [[nodiscard]] Result<void> write_line(std::string_view line);
  /// Writes out the rest, and gives the file its name.
  [[nodiscard]] Result<void> publish();

 private:
  [[nodiscard]] Result<void> write_out();
  [[nodiscard]] bool is_file() const noexcept { return path_ != "-"; }

  std::string path_;
  std::string draft_;
  int fd_ = -1;
  std::string buffer_;
};

}  // namespace tarry::app::transfer
