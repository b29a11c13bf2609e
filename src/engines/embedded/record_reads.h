// RecordReads: fetches many records of a journal at once: from RAM what was written a moment ago
// and what was read ahead, the rest from its files.
//
// Thread safety: none but what says otherwise; whoever has the committer owns it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engines/embedded/ahead_reads.h"
#include "engines/embedded/recent_batches.h"
#include "engines/embedded/record_runs.h"

namespace tarry::embedded {

/// Records as they are in RAM, to be looked at later and on any thread: copies, or views into
/// batches that are kept for so long.
struct HeldRecords {
  std::vector<std::string_view> records;
  std::vector<std::shared_ptr<const SealedBatch>> batches;
  std::unique_ptr<char[]> copies;
  std::shared_ptr<std::atomic<bool>> distrust;  // set by who finds that one does not check
};

class RecordReads {
 public:
  /// What is copied for an answer that is made later; of more, the copy would take as long.
  static constexpr std::uint64_t kMostCopied = 256ull << 10;
  /// How records are held. Where they lie, for who reads them in a moment: for each of them a batch
  /// of megabytes may have to be kept. By copies, for who comes in a queue.
  enum class Hold : std::uint8_t { where_they_lie, by_copies };

  /// `files` and `recent` must outlive it.
  RecordReads(const SegmentFiles& files, const RecentBatches& recent,
              const storage::Directory& directory)
      : files_(&files),
        recent_(&recent),
        reader_(directory.make_reader()),
        ahead_(files, directory.make_reader()) {}

  /// The bytes of each record, at most as many as its position says; fewer, or none, where they
  /// cannot be read. Valid until the next call, or until a batch is added to the recent ones.
  [[nodiscard]] std::span<const std::string_view> fetch(std::span<const RecordPlace> places);
  /// The bytes that the file has there now, whatever was read ahead. What was fetched stays valid.
  [[nodiscard]] std::string_view fetch_anew(const RecordPlace& place);

  /// Of what was written a moment ago. Empty where one of them was not, where copies would be more
  /// than kMostCopied bytes, and from the moment on at which one did not check: then RAM is not
  /// what it should be, and `fetch` and `fetch_anew` have to say what the file has.
  [[nodiscard]] std::optional<HeldRecords> hold(std::span<const RecordPlace> places,
                                                Hold how) const;

  /// What will be asked for soon: see AheadReads::read. By one thread, beside the one that owns
  /// this.
  [[nodiscard]] std::size_t read_ahead(std::span<const RecordPlace> places) {
    return ahead_.read(places);
  }
  /// These will be fetched in a moment. While `waits_for_disk`, the disk is asked for them; not for
  /// more of them than it does at a time anyway.
  void expect(std::span<const RecordPlace> places);
  [[nodiscard]] bool waits_for_disk() const { return reader_->has_waited(); }

 private:
  static constexpr std::size_t kMostExpected = 1024;

  const SegmentFiles* files_;
  const RecentBatches* recent_;
  std::unique_ptr<storage::Reader> reader_;
  std::vector<std::string_view> found_;
  std::vector<std::size_t> missing_;  // of found_
  std::shared_ptr<std::atomic<bool>> distrust_ = std::make_shared<std::atomic<bool>>(false);
  RecordRuns direct_;
  RecordRuns anew_;
  AheadReads ahead_;
};

}  // namespace tarry::embedded
