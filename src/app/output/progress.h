// Progress: how far a long job has come, on stderr. On a terminal one line that is written over; in
// a log a plain line every few seconds; of a job that is done within a second nothing at all.
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

/// `62% [============>       ]  3,100 messages, 2s left`, at most `width` columns. 0: a line of a
/// log, as long as need be and without the bar.
[[nodiscard]] std::string progress_line(std::string_view what, const Reading& reading,
                                        std::chrono::milliseconds elapsed, std::size_t width);

class Progress {
 public:
  /// `what` names the job: "pushing". Silent from the start if `out` is null.
  Progress(std::string_view what, std::FILE* out, Terminal terminal);
  ~Progress();  // takes the line away
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough to be called after every batch: most calls only look at the clock.
  void show(std::uint64_t done, std::uint64_t total, std::uint64_t count, std::string_view unit);
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
