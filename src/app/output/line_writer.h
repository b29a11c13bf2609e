// LineWriter: lines for a descriptor whose reader may be slow, or read nothing at all. A caller
// never waits: a thread of its own writes whatever the descriptor does not take at once. Lines that
// do not fit into its memory are left out, counted, and reported once there is room.
//
// Invariants
//  1. At most kMostBytes wait to be written, and one line more.
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

  /// `lost`: makes the line that reports the number of left-out lines; empty: none is reported. Any
  /// thread.
  using Lost = std::function<std::string(std::uint64_t lines)>;

  /// `descriptor` stays open while the process lives.
  explicit LineWriter(int descriptor, Lost lost = {});
  LineWriter(const LineWriter&) = delete;
  LineWriter& operator=(const LineWriter&) = delete;
  /// Waits until all is written, but not for a reader that takes nothing.
  ~LineWriter();

  /// `line` ends with a newline.
  void write(std::string line);

 private:
  class AtOnce;
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace tarry::app
