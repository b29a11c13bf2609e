// PosixReader: many reads of POSIX files at once, without a system call for each. The files are
// mapped, and the kernel writes all wanted ranges, in one call, into a small file in RAM (a memfd),
// from which they are read. A read of 140 bytes costs a fifth of pread's (docs/decisions/0003).
// Only the kernel touches the map, so a disk that fails causes a short write here, not a signal;
// then File::read_at is used, as for files without a map.
//
// If reads must wait for a disk, it is first told all ranges, so that it fetches them in parallel.
// That takes a call for each read, so it is done only while the page cache lacks some of them.
//
// Thread safety: as the seam says; one thread at a time.
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
  std::unique_ptr<FileMap> seen_;  // the window's bytes, in our own RAM
  std::vector<iovec> pieces_;
  unsigned cold_ = 0;  // number of calls that still assume gaps in the page cache
};

}  // namespace tarry::storage
