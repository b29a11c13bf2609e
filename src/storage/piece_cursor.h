// The position of a gathered write: which pieces are still to be written, and from which byte of
// the first one. It makes no system call itself, so that short writes can be tested.
//
// Thread safety: none; it is a local variable of one write.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <span>
#include <string_view>

#include "base/assert.h"

namespace tarry::storage {

class PieceCursor {
 public:
  explicit PieceCursor(std::span<const std::string_view> pieces) : pieces_(pieces) {
    skip_finished();
  }

  [[nodiscard]] bool done() const noexcept { return pieces_.empty(); }

  /// Describes the next bytes in as many entries of `into` as fit, and returns how many it filled.
  /// Empty pieces get no entry.
  [[nodiscard]] std::size_t fill(std::span<iovec> into) const noexcept {
    std::size_t filled = 0;
    std::size_t skip = written_of_first_;
    for (const std::string_view piece : pieces_) {
      if (filled == into.size()) break;
      const std::string_view rest = piece.substr(skip);
      skip = 0;
      if (rest.empty()) continue;
      // writev takes its input through a non-const pointer, but does not write there.
      into[filled++] = {const_cast<char*>(rest.data()), rest.size()};
    }
    return filled;
  }

  /// The system has written `bytes` more.
  void advance(std::size_t bytes) noexcept {
    while (bytes > 0) {
      TARRY_ASSERT(!pieces_.empty());
      const std::size_t rest = pieces_.front().size() - written_of_first_;
      if (bytes < rest) {
        written_of_first_ += bytes;
        return;
      }
      bytes -= rest;
      pieces_ = pieces_.subspan(1);
      written_of_first_ = 0;
    }
    skip_finished();
  }

 private:
  void skip_finished() noexcept {
    while (!pieces_.empty() && pieces_.front().size() == written_of_first_) {
      pieces_ = pieces_.subspan(1);
      written_of_first_ = 0;
    }
  }

  std::span<const std::string_view> pieces_;
  std::size_t written_of_first_ = 0;
};

}  // namespace tarry::storage
