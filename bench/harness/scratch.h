// Scratch: a new directory for one store, removed at the end with everything in it.
//
// Thread safety: none needed.
#pragma once

#include <cstdint>
#include <string>

namespace tarry::bench {

class Scratch {
 public:
  /// Below `parent`, which must exist.
  explicit Scratch(const std::string& parent);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Disk space of its files, as `du` counts it.
  [[nodiscard]] std::uint64_t disk_bytes() const;

 private:
  std::string path_;
};

}  // namespace tarry::bench
