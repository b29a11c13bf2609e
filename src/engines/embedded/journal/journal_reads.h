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
  /// Segments up to this one go: nothing may keep their files, or their room would not be freed.
  virtual void freed(std::uint64_t /*segment*/) {}
  /// These will be fetched in a moment. If `waits_for_disk`, the disk starts to read them.
  virtual void expect(std::span<const RecordPlace> /*places*/) {}
  /// Reads have had to wait for the disk lately.
  [[nodiscard]] virtual bool waits_for_disk() const { return false; }
  /// Bytes of the latest batches that are kept in RAM; a constant.
  [[nodiscard]] virtual std::uint64_t recent_bytes() const noexcept { return 0; }
};

}  // namespace tarry::embedded
