// MemoryLimit: a control group whose processes get so much RAM and no more, what the page cache
// holds for them included. Takes root, and a system that lets control groups be made.
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
  /// Errors: unsupported, saying why.
  [[nodiscard]] static Result<std::unique_ptr<MemoryLimit>> make(std::uint64_t bytes);
  /// All who joined must have ended.
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
