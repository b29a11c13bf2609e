// PosixReader: many reads of POSIX files at once, without a call of the system for each. The files
// are mapped, and the kernel is told to write all that is wanted into a small file in RAM (a
// memfd), in one call, from where it is picked up. A read of 140 bytes costs a fifth of pread's
// (docs/decisions/0003). Nobody touches the map but the kernel, so a disk that fails is a short
// write here, and not a signal; then, as for what has no map, File::read_at is asked.
//
// A disk that has to be waited for is told all that is wanted first, and fetches it side by side.
// That takes a call for each read, so it is done only while the page cache is found to lack some.
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
  std::unique_ptr<FileMap> seen_;  // the window's bytes: RAM of our own
  std::vector<iovec> pieces_;
  unsigned cold_ = 0;  // so many more calls take the page cache to lack some
};

}  // namespace tarry::storage
