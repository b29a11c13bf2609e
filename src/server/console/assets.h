// The console's files: the page, its script and its style, compressed by gzip. web/ has their
// sources; cmake/console_source.py makes a C++ source of them at build time. A program that was
// built without npm has none.
//
// Thread safety: pure functions; the views live as long as the program.
#pragma once

#include <span>
#include <string_view>

namespace tarry::console {

struct Asset {
  std::string_view name;  // "index.html" is the page; the names of the others contain a hash
  std::string_view content_type;
  std::string_view gzip;  // the bytes, compressed
};

[[nodiscard]] std::span<const Asset> assets() noexcept;
/// Null if there is no such file.
[[nodiscard]] const Asset* find_asset(std::string_view name) noexcept;

}  // namespace tarry::console
