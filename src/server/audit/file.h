// File: the audit log's file, to which lines are appended.
//
// Thread safety: one thread at a time.
//
// Invariants
//  1. A line begins at the beginning of a line, whatever became of the write before it, in this
//     process or in one that crashed.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <tarry/result.h>

namespace tarry::audit {

class File {
 public:
  /// Opens the file, or makes it with mode 0600. Error: `invalid_argument`, which names `named_by`,
  /// the path and the reason: it cannot be opened, or is not a regular file.
  [[nodiscard]] static Result<std::unique_ptr<File>> open(std::string_view named_by,
                                                          const std::string& path);
  explicit File(int fd, bool is_cut) noexcept : fd_(fd), is_cut_(is_cut) {}
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  /// Appends whole lines with one write. The kernel has them when it returns; the disk gets them
  /// later. Error: `no_space` or `io_error`, with the system's words; then the last line may be
  /// there in part.
  [[nodiscard]] Result<void> append(std::string_view lines);

 private:
  int fd_;
  bool is_cut_;  // the file's last line has no end
};

}  // namespace tarry::audit
