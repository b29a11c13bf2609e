// SegmentScanner: reads the batches of one segment, front to back, and checks each. Recovery,
// cleaning and `store check` use it, so all of them agree on what a good batch is.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <tarry/result.h>

#include "engines/embedded/journal/journal_format.h"
#include "storage/storage.h"

namespace tarry::embedded {

class SegmentScanner {
 public:
  /// Reads [kSegmentHeaderBytes, end) of `file`, which must outlive the scanner. The first batch
  /// must be number `first_batch`.
  SegmentScanner(const storage::File& file, std::uint64_t salt, std::uint64_t first_batch,
                 std::uint64_t end);

  enum class Step : std::uint8_t {
    batch,  // a good batch: see `header`, `body`, `offset`
    end,    // exactly at the end
    bad,    // no good batch of the next number begins at `offset`
  };
  /// Errors: io_error from the file.
  Result<Step> next();

  [[nodiscard]] const BatchHeader& header() const noexcept { return header_; }
  /// The records, valid until the next call.
  [[nodiscard]] std::string_view body() const noexcept { return body_; }
  /// Offset of the batch (Step::batch), of the bad bytes, or of the end.
  [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
  /// Offset of the first record in the file.
  [[nodiscard]] std::uint64_t body_offset() const noexcept { return offset_ + kBatchHeaderBytes; }
  /// The end of the last good batch, padding included.
  [[nodiscard]] std::uint64_t good_end() const noexcept { return next_offset_; }
  [[nodiscard]] std::uint64_t next_number() const noexcept { return next_number_; }

  struct Beyond {
    std::uint64_t durable = 0;  // the highest `durable` that one of the batches states
    std::uint64_t batches = 0;  // batches with the expected number or a higher one
  };
  /// Looks for good batches of this segment at every aligned place from `offset` on. Stops at the
  /// first that states `enough` or more as durable.
  Result<Beyond> beyond(std::uint64_t enough);

  /// After Step::bad: the next call of `next` continues with the first later good batch that has
  /// the expected number or a higher one. False if there is none.
  Result<bool> skip_bad();

  /// The end of the torn tail. That is the end of this segment's last batch, complete or not, at
  /// `good_end` or later. Other bytes there may be left from an older segment that had this file.
  Result<std::uint64_t> torn_end();

 private:
  Result<std::string_view> read(std::uint64_t offset, std::uint64_t size);
  Result<bool> load_batch(std::uint64_t offset, BatchHeader& header);
  [[nodiscard]] bool may_be_next(std::string_view head) const;
  Result<bool> find_good(std::uint64_t& at, BatchHeader& header);

  const storage::File* file_;
  std::uint64_t salt_;
  std::uint64_t end_;
  std::uint64_t next_offset_ = kSegmentHeaderBytes;
  std::uint64_t next_number_;
  std::uint64_t offset_ = kSegmentHeaderBytes;
  BatchHeader header_;
  std::string_view body_;
  std::string buffer_;
  std::uint64_t buffer_offset_ = 0;
};

/// The header of the segment's first batch, even if the segment's own header is lost. The batch may
/// have any salt. Empty if there is no batch, or if its checksum is wrong.
[[nodiscard]] Result<std::optional<BatchHeader>> first_batch_in(const storage::File& file);

}  // namespace tarry::embedded
