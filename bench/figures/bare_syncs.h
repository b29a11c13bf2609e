// The speed of the disk's syncs: one append and fdatasync after the other, while nothing else uses
// the disk.
#pragma once

#include <string>

#include "base/histogram.h"

namespace tarry::bench {

/// Appends 4 KiB and syncs, again and again for that time, in a file below `directory`. The values
/// are microseconds.
[[nodiscard]] base::Histogram bare_syncs(const std::string& directory, double seconds);

}  // namespace tarry::bench
