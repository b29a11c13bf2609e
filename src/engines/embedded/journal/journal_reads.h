// JournalReads: reads a journal while its committer writes it. The committer reports written
// batches and removed segments, and passes on the records that its jobs will need. RecordReads
// (reading/) does the reading. The default functions here are right for a journal that nobody reads
// meanwhile.
//
// Thread safety: one thread calls `read_ahead`, beside the thread that has the committer and calls
// the rest.
#pragma once

#include <cstddef>
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
  /// These will be fetched in a moment.
  virtual void expect(std::span<const RecordPlace> /*places*/) {}
  /// Claims will soon ask for these. Answers how many of them are done with, at least one.
  [[nodiscard]] virtual std::size_t read_ahead(std::span<const RecordPlace> places) {
    return places.size();
  }
  /// Reads have had to wait for the disk lately.
  [[nodiscard]] virtual bool waits_for_disk() const { return false; }
  /// Bytes of the latest batches that are kept in RAM.
  [[nodiscard]] virtual std::uint64_t recent_bytes() const noexcept { return 0; }
};

}  // namespace tarry::embedded
