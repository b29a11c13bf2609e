// JournalReads: what a committer tells the reading of its journal: which batches it has written,
// which segments are gone, and what its jobs will fetch. RecordReads (reading/) is the reading;
// what these functions do by themselves is right for a journal that nobody reads meanwhile.
//
// Thread safety: `recent_bytes` by any thread; the rest by the thread that has the committer.
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
  /// These will be fetched in a moment. While `waits_for_disk`, the disk is asked for them.
  virtual void expect(std::span<const RecordPlace> /*places*/) {}
  /// Reads have had to wait for the disk lately.
  [[nodiscard]] virtual bool waits_for_disk() const { return false; }
  /// How much is kept in RAM of what was written last, always the same.
  [[nodiscard]] virtual std::uint64_t recent_bytes() const noexcept { return 0; }
};

}  // namespace tarry::embedded
