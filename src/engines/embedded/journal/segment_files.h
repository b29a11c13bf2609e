// SegmentFiles: the open files of a shard's journal, by segment number. The shard's thread opens
// and forgets the files, the committer writes and reads them.
//
// Thread safety: any thread may call any function.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "engines/embedded/records/position.h"
#include "engines/embedded/records/records.h"
#include "storage/storage.h"

namespace tarry::embedded {

class SegmentFiles {
 public:
  void add(std::uint64_t segment, std::shared_ptr<storage::File> file) {
    const std::scoped_lock lock(mutex_);
    files_[segment] = std::move(file);
  }
  void remove(std::uint64_t segment) {
    const std::scoped_lock lock(mutex_);
    files_.erase(segment);
  }
  [[nodiscard]] std::shared_ptr<storage::File> get(std::uint64_t segment) const {
    const std::scoped_lock lock(mutex_);
    const auto found = files_.find(segment);
    return found == files_.end() ? nullptr : found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<storage::File>> files_;
};

/// Opens the file of an existing segment. Errors: `damaged` if it is no regular file; io_error.
[[nodiscard]] Result<std::unique_ptr<storage::File>> open_segment(storage::Directory& directory,
                                                                  std::string_view name,
                                                                  storage::OpenMode mode);

/// Reads a message's record into `buffer` and decodes it; its views point there. The payload is not
/// checked. Errors: `damaged` if the bytes there are not that record. Reads nothing from `end` on,
/// because a position's size is rounded up, and another thread may be writing after the record.
[[nodiscard]] Result<PutRecord> read_put(const SegmentFiles& files, std::uint64_t segment,
                                         Position position, std::string& buffer,
                                         std::uint64_t end = UINT64_MAX);

/// A message's record without its payload; the views of `record` point into the buffer that it was
/// read into. A short payload is read along with it.
struct PutHead {
  PutRecord record;
  std::uint64_t segment = 0;
  std::uint64_t payload_at = 0;  // in its file
  std::uint32_t payload_bytes = 0;
};

/// As read_put, but reads little more than the fixed part, key and headers, however long the
/// payload is.
[[nodiscard]] Result<PutHead> read_put_head(const SegmentFiles& files, std::uint64_t segment,
                                            Position position, std::string& buffer);

/// Reads the payload of that record and compares its checksum. Errors: `damaged` if the checksum
/// differs.
[[nodiscard]] Result<std::string> read_payload(const SegmentFiles& files, const PutHead& head);

}  // namespace tarry::embedded
