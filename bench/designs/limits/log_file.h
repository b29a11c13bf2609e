// LogFile: a file to which batches of records are appended and, if asked, synced. While one write
// is synced, the callers that come gather. Then the first of them writes what all of them brought,
// with one sync. So as many callers share a sync as there are.
//
// The file grows in steps of 64 MiB, as tarry's do. Nobody reads it.
//
// Thread safety: all of it.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <mutex>
#include <semaphore>
#include <string>
#include <string_view>
#include <vector>

#include "designs/design.h"

namespace tarry::bench {

class LogFile {
 public:
  /// Makes the file `log` in the directory `path`.
  LogFile(const std::string& path, Sync sync);
  ~LogFile();
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  /// Returns when `batch` is as durable as the file was opened for.
  void append(std::string_view batch);

 private:
  // A caller that waits. It is either done, or it has to write the next batches.
  struct Caller {
    std::string_view batch;
    bool done = false;
    std::binary_semaphore woken{0};
  };

  void append_synced(std::string_view batch);
  /// Takes room for `size` bytes. Returns where they begin.
  off_t room_for(std::size_t size);
  void write_and_sync(const std::vector<Caller*>& callers);

  const Sync sync_;
  const int file_;
  std::atomic<off_t> end_{0};
  std::mutex growing_;
  std::atomic<off_t> room_{0};

  std::mutex mutex_;  // guards the following
  bool writing_ = false;
  std::vector<Caller*> waiting_;
};

}  // namespace tarry::bench
