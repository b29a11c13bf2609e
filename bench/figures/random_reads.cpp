#include "figures/random_reads.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "harness/must.h"
#include "harness/scratch.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

constexpr std::size_t kPage = 4'096;
constexpr std::size_t kUnderWay = 64;

void write_file(const std::string& path, std::uint64_t pages) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  must(fd >= 0, "a file is made: " + path);
  const std::string page(kPage, 'x');
  for (std::uint64_t i = 0; i < pages; ++i) {
    must(::write(fd, page.data(), page.size()) == static_cast<ssize_t>(kPage), "it is written");
  }
  must(::fdatasync(fd) == 0 && ::close(fd) == 0, "it is synced");
}

}  // namespace

double random_reads_per_second(const std::string& directory, std::uint64_t bytes) {
  const Scratch scratch(directory);
  const std::string path = scratch.path() + "/pages";
  const std::uint64_t pages = bytes / kPage + 1;
  write_file(path, pages);
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECT | O_CLOEXEC);
  must(fd >= 0, "a file is read past the page cache");
  std::atomic<std::uint64_t> done{0};
  std::vector<std::thread> readers;
  const Stopwatch watch;
  for (std::size_t i = 0; i < kUnderWay; ++i) {
    readers.emplace_back([&, i] {
      std::mt19937_64 random(i);
      const std::unique_ptr<void, decltype(&std::free)> page(std::aligned_alloc(kPage, kPage),
                                                             &std::free);
      while (watch.seconds() < 1) {
        const auto at = static_cast<off_t>(random() % pages * kPage);
        must(::pread(fd, page.get(), kPage, at) == static_cast<ssize_t>(kPage), "a page is read");
        done.fetch_add(1);
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  const double seconds = watch.seconds();
  ::close(fd);
  return static_cast<double>(done.load()) / seconds;
}

}  // namespace tarry::bench
