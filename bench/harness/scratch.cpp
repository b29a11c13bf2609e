#include "harness/scratch.h"

#include <stdlib.h>  // NOLINT: mkdtemp is POSIX's
#include <sys/stat.h>

#include <filesystem>
#include <system_error>

#include "harness/must.h"

namespace tarry::bench {

namespace fs = std::filesystem;

Scratch::Scratch(const std::string& parent) : path_(parent + "/tarry-bench-XXXXXX") {
  must(::mkdtemp(path_.data()) != nullptr, "a directory is made in " + parent);
}

Scratch::~Scratch() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::uint64_t Scratch::disk_bytes() const {
  std::uint64_t sum = 0;
  for (const auto& entry : fs::recursive_directory_iterator(path_)) {
    struct stat facts{};
    if (::stat(entry.path().c_str(), &facts) == 0 && S_ISREG(facts.st_mode)) {
      sum += static_cast<std::uint64_t>(facts.st_blocks) * 512;
    }
  }
  return sum;
}

}  // namespace tarry::bench
