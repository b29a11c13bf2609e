// Screen: takes the whole terminal while it lives, draws each picture over the previous one, and
// reads keys. If the output is not a terminal, it prints pictures below each other and reads no
// keys.
//
// Thread safety: one thread, and one Screen at a time in a process (it watches SIGINT, SIGTERM).
#pragma once

#include <termios.h>

#include <chrono>
#include <optional>
#include <string_view>

#include "app/output/terminal.h"
#include "app/system/signals.h"

namespace tarry::app {

class Screen {
 public:
  /// If `whole` is false, it prints pictures below each other on a terminal too.
  explicit Screen(bool whole);
  ~Screen();  // restores the terminal
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Whether each picture is drawn over the previous one, which means that a person is watching.
  [[nodiscard]] bool is_whole() const noexcept { return drawn_on_; }

  /// `picture`: lines that each end in a newline. On a terminal, lines that do not fit are left
  /// out.
  void draw(std::string_view picture);

  /// Waits for at most `time`. Returns true if `q`, Ctrl-C or SIGTERM came, so that the program
  /// must end.
  [[nodiscard]] bool ends_within(std::chrono::milliseconds time);

  /// The present width, which changes when users resize the window.
  [[nodiscard]] std::size_t width() const noexcept;

 private:
  bool drawn_on_;
  std::optional<termios> before_;  // settings of standard input, where keys are read
  int ended_;                      // an eventfd
  SignalWatch signals_;
};

}  // namespace tarry::app
