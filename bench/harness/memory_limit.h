// MemoryLimit: a control group that limits the RAM of its processes, including their page cache.
// Needs root, and a system that allows new control groups.
//
// Thread safety: none needed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <tarry/result.h>

namespace tarry::bench {

class MemoryLimit {
 public:
  /// Error: unsupported, with the reason.
  [[nodiscard]] static Result<std::unique_ptr<MemoryLimit>> make(std::uint64_t bytes);
  /// All processes that have joined must have ended.
  ~MemoryLimit();
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;

  /// Puts the calling process into the group.
  void join() const;

 private:
  explicit MemoryLimit(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace tarry::bench
