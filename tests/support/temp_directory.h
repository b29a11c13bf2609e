// For tests: a new directory under TMPDIR (otherwise /tmp), removed at the end with everything in
// it.
//
// Thread safety: none needed; a member of one test.
#pragma once

#include <stdlib.h>  // NOLINT: mkdtemp is POSIX's

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

#include "base/assert.h"

namespace tarry::storage {

class TempDirectory {
 public:
  TempDirectory() {
    const char* const base = std::getenv("TMPDIR");
    path_ = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/tarry-test-XXXXXX";
    TARRY_ASSERT(::mkdtemp(path_.data()) != nullptr);
  }
  ~TempDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace tarry::storage
