// Pictures of lateness against load: lines of text, and an SVG for a page.
//
// Pure functions.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/pictures/lateness_at_load.h"

namespace tarry::app {

/// One line per load on a logarithmic axis: `-` from p50 to p99, then `.` up to p99.9. At most
/// `width` columns (0: 80). Ends in a newline.
[[nodiscard]] std::string lateness_text(const std::vector<LatenessAtLoad>& runs, std::size_t width);

/// The same as an SVG: three lines over the load, both axes logarithmic. `title` is made printable.
[[nodiscard]] std::string lateness_svg(const std::vector<LatenessAtLoad>& runs,
                                       const std::string& title);

/// The lateness as text: "0.43 ms", "12 ms", "3.4 s".
[[nodiscard]] std::string lateness_words(double microseconds);

}  // namespace tarry::app
