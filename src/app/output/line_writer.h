// LineWriter: writes lines to a descriptor whose reader may be slow, or may not read at all. A
// caller never waits: bytes that the descriptor does not take at once are written by the
// LineWriter's own thread. Lines that do not fit into its memory are left out, counted, and
// reported once there is room.
//
// Invariants
//  1. At most kMostBytes plus one line wait to be written.
//  2. Lines are written in the order of the calls.
//
// Thread safety: `write` may be called from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tarry::app {

class LineWriter {
 public:
  static constexpr std::size_t kMostBytes = 1 << 20;
  /// How long the last lines wait for a reader that takes nothing.
  static constexpr int kLastWordsMs = 1'000;

  /// Makes the line that reports how many lines were left out. If it is empty, nothing is reported.
  /// Called on any thread.
  using Lost = std::function<std::string(std::uint64_t lines)>;

  /// `descriptor` must stay open while the process lives.
  explicit LineWriter(int descriptor, Lost lost = {});
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  /// Waits until all lines are written. It gives up on a reader that takes nothing (kLastWordsMs).
  ~LineWriter();

  /// `line` ends with a newline.
  void write(std::string line);

 private:
  class AtOnce;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace tarry::app
