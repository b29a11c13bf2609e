#include "harness/memory_limit.h"

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "harness/must.h"

namespace tarry::bench {
namespace {

struct Kind {
  const char* root;
  const char* limit;
};
// Control groups of version 1, and of version 2.
constexpr std::array<Kind, 2> kKinds{
    {{"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}}};

bool write_number(const std::string& path, std::uint64_t number) {
  std::ofstream out(path);
  out << number << std::flush;
  return out.good();
}

}  // namespace

Result<std::unique_ptr<MemoryLimit>> MemoryLimit::make(std::uint64_t bytes) {
  std::string why = "there are no control groups of memory here";
  for (const Kind& kind : kKinds) {
    const std::string path = std::string(kind.root) + "/tarry-bench-" + std::to_string(::getpid());
    if (::mkdir(path.c_str(), 0755) != 0) {
      if (errno != ENOENT) why = "cannot make " + path + ": " + std::strerror(errno);
      continue;
    }
    std::unique_ptr<MemoryLimit> made(new MemoryLimit(path));
    if (write_number(path + "/" + kind.limit, bytes)) return made;
    why = "cannot write " + path + "/" + kind.limit;
  }
  return Unexpected(ErrorCode::unsupported, why);
}

MemoryLimit::~MemoryLimit() { ::rmdir(path_.c_str()); }

void MemoryLimit::join() const {
  must(write_number(path_ + "/cgroup.procs", static_cast<std::uint64_t>(::getpid())),
       "the process joins " + path_);
}

}  // namespace tarry::bench
