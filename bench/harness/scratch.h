// Scratch: a directory of its own for one store, removed with all that is in it.
//
// Thread safety: none needed.
#pragma once

#include <cstdint>
#include <string>

namespace tarry::bench {

class Scratch {
 public:
  /// Beneath `parent`, which is there.
  explicit Scratch(const std::string& parent);
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// What its files take up on the disk, as `du` counts.
  [[nodiscard]] std::uint64_t disk_bytes() const;

 private:
  std::string path_;
};

}  // namespace tarry::bench
