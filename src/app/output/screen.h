// Screen: the whole terminal, while it lives: pictures that are drawn over each other, and keys.
// On no terminal pictures are printed below each other, and there are no keys.
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
  /// `whole` false: prints pictures below each other on a terminal too.
  explicit Screen(bool whole);
  ~Screen();  // the terminal is as it was
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Whether a person watches the pictures: then they are drawn over each other.
  [[nodiscard]] bool is_whole() const noexcept { return drawn_on_; }

  /// Lines that end in a newline. On a terminal, lines that do not fit are left out.
  void draw(std::string_view picture);

  /// Whether it is to end: `q`, Ctrl-C or SIGTERM came before `time` had passed.
  [[nodiscard]] bool ends_within(std::chrono::milliseconds time);

  /// The current width: users resize windows.
  [[nodiscard]] std::size_t width() const noexcept;

 private:
  bool drawn_on_;
  std::optional<termios> before_;  // of standard input, where keys are read
  int ended_;                      // an eventfd
  SignalWatch signals_;
};

}  // namespace tarry::app
