// LineReader: lines of a file or pipe, however long the file is.
//
// Thread safety: one thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "base/threads/stop_event.h"

namespace tarry::app {

class LineReader {
 public:
  /// Reads from `fd`, which the caller still owns. A line over `longest` bytes is cut. `stop` ends
  /// a wait for more bytes; it must outlive the reader.
  LineReader(int fd, std::size_t longest, const base::StopEvent* stop = nullptr);

  /// The next line, without its end (`\n` or `\r\n`); false at the end. The view is valid until the
  /// next call. Errors: `io_error`; `closed` if the stop came before the line's end.
  [[nodiscard]] Result<bool> next(std::string_view& line);

  /// Reads until `next` can return without waiting for input (it has a line, the part of a line
  /// that is too long, or the end of the file), and returns true. Returns false if this is not so
  /// by `end`. Only for readers that were made with a stop. Errors: those of `next`.
  [[nodiscard]] Result<bool> has_line_by(std::chrono::steady_clock::time_point end);

  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }  ///< of the line, from 1
  [[nodiscard]] bool too_long() const noexcept { return too_long_; }       ///< that line was cut
  [[nodiscard]] bool unended() const noexcept { return unended_; }       ///< no `\n` came after it
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }  ///< read so far

 private:
  [[nodiscard]] Result<bool> fill();

  int fd_;
  std::size_t longest_;
  const base::StopEvent* stop_;
  std::string buffer_;
  std::size_t at_ = 0;  // the first byte that was not returned yet
  bool ended_ = false;
  bool too_long_ = false;
  bool unended_ = false;
  std::uint64_t number_ = 0;
  std::uint64_t bytes_ = 0;
};

/// Reads everything up to the end. Errors: `too_large` for more than `most` bytes; `io_error`.
[[nodiscard]] Result<std::string> read_all(int fd, std::size_t most);

}  // namespace tarry::app
