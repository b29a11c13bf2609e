#include "storage/posix_reader.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/prefetch.h"
#include "storage/file_size_signal.h"

namespace tarry::storage {
namespace {

// How much one call copies. It should stay in the processor's cache until it is read.
constexpr std::size_t kWindow = 256 * 1024;
constexpr std::size_t kMostPieces = 256;  // reads in one call
// A read longer than this is not merged with others; it gets its own system call.
constexpr std::size_t kLongest = 16 * 1024;
// After a read has had to wait for the disk, the next kColdBatches batches are requested from the
// disk before they are read.
constexpr unsigned kColdBatches = 32;
// Then the next batch is tried without a request, beginning with kTried reads.
constexpr std::size_t kTried = 16;

const PosixFile& posix(const Read& read) { return static_cast<const PosixFile&>(*read.file); }

bool is_whole(const Read& read) { return read.got && *read.got == read.into.size(); }

void ask_for_missing(std::span<const Read> reads) {
  for (const Read& read : reads) {
    if (!is_whole(read)) read.file->will_need(read.offset, read.into.size());
  }
}

// Copies the bytes that are in the page cache. False if the read has to wait for a disk.
bool read_if_cached(Read& read) {
  iovec vector{read.into.data(), read.into.size()};
  const ssize_t got = uninterrupted([&] {
    return ::preadv2(posix(read).descriptor(), &vector, 1, static_cast<off_t>(read.offset),
                     RWF_NOWAIT);
  });
  read.got = static_cast<std::size_t>(std::max<ssize_t>(got, 0));
  return got >= 0 || errno != EAGAIN;
}

// How many pages this thread has waited for so far (until a disk had read them).
long major_faults() {
  rusage usage{};
  return ::getrusage(RUSAGE_THREAD, &usage) == 0 ? usage.ru_majflt : 0;
}

}  // namespace

bool PosixReader::has_window() {
  if (tried_) return seen_ != nullptr;
  tried_ = true;
  const NoFileSizeSignal quiet;
  window_ = FileDescriptor(::memfd_create("tarry-reads", MFD_CLOEXEC));
  if (window_.valid() && ::ftruncate(window_.get(), kWindow) == 0) {
    seen_ = FileMap::make(window_.get(), kWindow);
  }
  return seen_ != nullptr;
}

// Copies as many of the first reads as one call can. Returns how many of them are whole.
std::size_t PosixReader::copy_some(std::span<Read> reads) {
  pieces_.clear();
  std::size_t bytes = 0;
  for (const Read& read : reads.first(std::min(reads.size(), kMostPieces))) {
    const std::size_t size = read.into.size();
    if (size > kLongest || bytes + size > kWindow) break;
    const char* const from = posix(read).mapped(read.offset + size);
    if (from == nullptr) break;
    // iovec wants a non-const pointer; the kernel only reads from it.
    pieces_.push_back({const_cast<char*>(from + read.offset), size});
    base::prefetch({from + read.offset, size});
    bytes += size;
  }
  if (pieces_.empty()) return 0;
  const ssize_t written = uninterrupted([&] {
    return ::pwritev(window_.get(), pieces_.data(), static_cast<int>(pieces_.size()), 0);
  });
  auto left = static_cast<std::size_t>(std::max<ssize_t>(written, 0));
  const char* from = seen_->bytes();
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const std::span<char> into = reads[i].into;
    if (into.size() > left) return i;
    std::memcpy(into.data(), from, into.size());
    reads[i].got = into.size();
    from += into.size();
    left -= into.size();
  }
  return pieces_.size();
}

void PosixReader::copy(std::span<Read> reads) {
  while (!reads.empty()) {
    const std::size_t done = copy_some(reads);
    // The first read has no map, cannot be read, or is long.
    if (done == 0 && reads.front().into.size() > kLongest && !read_if_cached(reads.front())) {
      cold_ = kColdBatches;
    }
    reads = reads.subspan(std::max<std::size_t>(done, 1));
  }
}

// Copies a few reads, then twice as many, up to `most` at a time, until a read has to wait for the
// disk. Returns the reads that are left.
std::span<Read> PosixReader::copy_while_warm(std::span<Read> reads, std::size_t most) {
  long faults = major_faults();
  for (std::size_t few = kTried; !reads.empty() && cold_ == 0; few = std::min(2 * few, most)) {
    const auto tried = reads.first(std::min(reads.size(), few));
    copy(tried);
    if (const long now = major_faults(); now != faults) cold_ = kColdBatches;
    reads = reads.subspan(tried.size());
  }
  return reads;
}

void PosixReader::read(std::span<Read> reads) {
  for (Read& read : reads) read.got = std::size_t{0};
  if (reads.size() > 1 && has_window()) {
    const bool was_cold = cold_ > 0;
    const auto rest = copy_while_warm(reads, 4 * kTried);
    ask_for_missing(rest);
    copy(rest);
    if (was_cold) --cold_;
  } else {
    if (reads.size() > 1) ask_for_missing(reads);
    if (cold_ > 0) --cold_;
  }
  for (Read& read : reads) {
    if (!is_whole(read)) read.got = read.file->read_at(read.offset, read.into);
  }
}

void PosixReader::read_cached(std::span<Read> reads) {
  for (Read& read : reads) read.got = std::size_t{0};
  if (cold_ > 0) {
    --cold_;
  } else if (has_window()) {
    static_cast<void>(copy_while_warm(reads, kTried));
  }
  ask_for_missing(reads);
}

}  // namespace tarry::storage
