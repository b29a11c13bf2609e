// A segment as the journal knows it. Plain values.
#pragma once

#include <cstdint>

namespace tarry::embedded {

struct SegmentInfo {
  std::uint64_t number = 0;
  std::uint64_t salt = 0;
  std::uint64_t first_batch = 0;
  std::uint64_t used = 0;       // bytes that hold header and batches
  std::uint64_t allocated = 0;  // bytes on disk
};

}  // namespace tarry::embedded
