// The destination of an output: a terminal with its width, or a pipe or file.
//
// Thread safety: immutable.
#pragma once

#include <cstddef>

namespace tarry::app {

class Terminal {
 public:
  /// Detects once whether the file descriptor is a terminal, and how wide that terminal is.
  explicit Terminal(int fd) noexcept;

  [[nodiscard]] bool is_terminal() const noexcept { return is_terminal_; }
  /// The number of columns; 0 if the output is not a terminal, so that nothing is cut.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }

 private:
  bool is_terminal_;
  std::size_t width_ = 0;
};

}  // namespace tarry::app
