#include "designs/limits/log_file.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "harness/must.h"

namespace tarry::bench {
namespace {

constexpr off_t kRoom = off_t{64} << 20;

}  // namespace

LogFile::LogFile(const std::string& path, Sync sync)
    : sync_(sync), file_(::open((path + "/log").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {
  must(file_ >= 0, "the log opens");
}

LogFile::~LogFile() { ::close(file_); }

void LogFile::append(std::string_view batch) {
  if (sync_ == Sync::always) return append_synced(batch);
  const off_t at = room_for(batch.size());
  must(::pwrite(file_, batch.data(), batch.size(), at) == static_cast<ssize_t>(batch.size()),
       "the log is written");
}

void LogFile::append_synced(std::string_view batch) {
  Caller self;
  self.batch = batch;
  std::vector<Caller*> taken;
  {
    std::unique_lock lock(mutex_);
    waiting_.push_back(&self);
    if (writing_) {
      lock.unlock();
      self.woken.acquire();
      if (self.done) return;
      lock.lock();
    }
    writing_ = true;
    taken.swap(waiting_);
  }
  write_and_sync(taken);
  {
    // The next write begins before those whose batches are durable wake: the disk must not wait.
    const std::scoped_lock lock(mutex_);
    if (waiting_.empty()) {
      writing_ = false;
    } else {
      waiting_.front()->woken.release();
    }
  }
  for (Caller* const caller : taken) {
    if (caller == &self) continue;
    caller->done = true;
    caller->woken.release();
  }
}

off_t LogFile::room_for(std::size_t size) {
  const off_t at = end_.fetch_add(static_cast<off_t>(size));
  const off_t end = at + static_cast<off_t>(size);
  if (end <= room_.load()) return at;
  const std::scoped_lock lock(growing_);
  while (end > room_.load()) {
    must(::posix_fallocate(file_, room_.load(), kRoom) == 0, "the log grows");
    room_.fetch_add(kRoom);
  }
  return at;
}

void LogFile::write_and_sync(const std::vector<Caller*>& callers) {
  std::vector<iovec> parts;
  parts.reserve(callers.size());
  std::size_t size = 0;
  for (const Caller* const caller : callers) {
    parts.push_back({const_cast<char*>(caller->batch.data()), caller->batch.size()});
    size += caller->batch.size();
  }
  const off_t at = room_for(size);
  must(::pwritev(file_, parts.data(), static_cast<int>(parts.size()), at) ==
           static_cast<ssize_t>(size),
       "the log is written");
  must(::fdatasync(file_) == 0, "the log is synced");
}

}  // namespace tarry::bench
