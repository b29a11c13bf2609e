// PosixReader: many reads of POSIX files at once, without a system call for each. The files are
// mapped. In one call the kernel writes all wanted ranges from the maps into a small file in RAM (a
// memfd), from which they are then read. A read of 140 bytes costs a fifth of a pread
// (docs/decisions/0003). Only the kernel touches the maps, so a failing disk causes a short write
// here, not a signal. File::read_at is used in that case, and for files without a map.
//
// If reads must wait for a disk, the kernel is first told all ranges, so that the disk fetches them
// in parallel. That takes a call for each read, so it is done only while some ranges are missing in
// the page cache.
//
// Thread safety: one thread at a time.
#pragma once

#include <sys/uio.h>

#include <memory>
#include <vector>

#include "storage/file_map.h"
#include "storage/posix_file.h"
#include "storage/storage.h"

namespace tarry::storage {

class PosixReader final : public Reader {
 public:
  void read(std::span<Read> reads) override;
  void read_cached(std::span<Read> reads) override;
  [[nodiscard]] bool has_waited() const override { return cold_ > 0; }

 private:
  [[nodiscard]] bool has_window();
  [[nodiscard]] std::size_t copy_some(std::span<Read> reads);
  void copy(std::span<Read> reads);
  [[nodiscard]] std::span<Read> copy_while_warm(std::span<Read> reads, std::size_t most);

  bool tried_ = false;
  FileDescriptor window_;
  std::unique_ptr<FileMap> seen_;  // the bytes of the memfd, mapped into our memory
  std::vector<iovec> pieces_;
  unsigned cold_ = 0;  // for how many more calls gaps in the page cache are assumed
};

}  // namespace tarry::storage
