// Progress: shows on stderr how far a long job has come. On a terminal it is one line that is
// overwritten; in a log it is a plain line every few seconds. A job that ends within a second shows
// nothing.
//
// Thread safety: one thread at a time.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "app/output/terminal.h"

namespace tarry::app {

/// One reading of a job's progress.
struct Reading {
  std::uint64_t done = 0;   // in the unit of `total`
  std::uint64_t total = 0;  // 0: not known
  std::string count;        // the text to show: "12,400 messages"
};

/// `62% [============>       ]  3,100 messages, 2s left`, at most `width` columns. If `width` is 0,
/// a line for a log: of any length and without the bar.
[[nodiscard]] std::string progress_line(std::string_view what, const Reading& reading,
                                        std::chrono::milliseconds elapsed, std::size_t width);

class Progress {
 public:
  /// `what` names the job: "pushing". If `out` is null, nothing is shown.
  Progress(std::string_view what, std::FILE* out, Terminal terminal);
  ~Progress();  // removes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough to call after every batch: most calls only read the clock.
  void show(std::uint64_t done, std::uint64_t total, std::uint64_t count, std::string_view unit);
  /// The same for bytes, counted in MiB.
  void show_bytes(std::uint64_t done, std::uint64_t total);
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string what_;
  std::FILE* out_;
  Terminal terminal_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
  bool shown_ = false;
};

/// 1234567 -> "1,234,567".
[[nodiscard]] std::string grouped(std::uint64_t number);
/// (2, "message") -> "2 messages", (1, "message") -> "1 message".
[[nodiscard]] std::string counted(std::uint64_t number, std::string_view noun);

}  // namespace tarry::app
