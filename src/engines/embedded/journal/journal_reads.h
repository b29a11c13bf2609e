// JournalReads: the reading of a journal while it is written, as its committer sees it. The
// committer says which batches it has written and which segments are gone, and passes on what its
// jobs will ask for. RecordReads (reading/) does the reading; what these functions do by themselves
// is right for a journal that nobody reads meanwhile.
//
// Thread safety: `read_ahead` by one thread, beside those of the rest; the rest by the thread that
// has the committer.
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

  /// The batch has reached its file, after all that were told before.
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
  /// How much is kept in RAM of what was written last.
  [[nodiscard]] virtual std::uint64_t recent_bytes() const noexcept { return 0; }
};

}  // namespace tarry::embedded
