// JournalReads: what a committer reports to the reader of its journal: written batches, removed
// segments, and the records that its jobs will need. RecordReads (reading/) is that reader. The
// default functions here are right for a journal that nobody reads meanwhile.
//
// Thread safety: any thread may call `recent_bytes`; only the thread that has the committer calls
// the rest.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engines/embedded/journal/commit.h"
#include "engines/embedded/records/position.h"

namespace tarry::embedded {

class JournalReads {
 public:
  virtual ~JournalReads() = default;

  /// The batch has reached its file, after all batches reported before.
  virtual void written(const std::shared_ptr<const SealedBatch>& /*batch*/) {}
  /// The segments up to this one are being removed or reused. Nobody may keep their files open, or
  /// their room would not be freed.
  virtual void freed(std::uint64_t /*segment*/) {}
  /// A job will fetch these records in a moment, so the reader may ask the disk for them now.
  virtual void expect(std::span<const RecordPlace> /*places*/) {}
  /// True if recent reads had to wait for the disk.
  [[nodiscard]] virtual bool waits_for_disk() const { return false; }
  /// Bytes of the latest batches that are kept in RAM; a constant.
  [[nodiscard]] virtual std::uint64_t recent_bytes() const noexcept { return 0; }
};

}  // namespace tarry::embedded
