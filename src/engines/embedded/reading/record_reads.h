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

#include "engines/embedded/journal/journal_reads.h"
#include "engines/embedded/reading/ahead_reads.h"
#include "engines/embedded/reading/recent_batches.h"
#include "engines/embedded/reading/record_runs.h"

namespace tarry::embedded {

/// Records as they are in RAM, to be looked at later and on any thread: copies, or views into
/// batches that are kept for so long.
struct HeldRecords {
  std::vector<std::string_view> records;
  std::vector<std::shared_ptr<const SealedBatch>> batches;
  std::unique_ptr<char[]> copies;
  std::shared_ptr<std::atomic<bool>> distrust;  // set by who finds that one does not check
};

class RecordReads final : public JournalReads {
 public:
  /// How much of what a shard wrote last is kept in RAM to be read back from there.
  static constexpr std::uint64_t kRecentBytes = 8ull << 20;
  /// What is copied for an answer that is made later; of more, the copy would take as long.
  static constexpr std::uint64_t kMostCopied = 256ull << 10;
  /// How records are held. Where they lie, for who reads them in a moment: for each of them a batch
  /// of megabytes may have to be kept. By copies, for who comes in a queue.
  enum class Hold : std::uint8_t { where_they_lie, by_copies };

  /// `files` must outlive it.
  RecordReads(const SegmentFiles& files, const storage::Directory& directory,
              std::uint64_t recent_bytes = kRecentBytes)
      : files_(&files),
        recent_(recent_bytes),
        reader_(directory.make_reader()),
        ahead_(files, directory.make_reader()) {}

  /// The bytes of each record, at most as many as its position says; fewer, or none, where they
  /// cannot be read. Valid until the next call, or until a batch is written.
  [[nodiscard]] std::span<const std::string_view> fetch(std::span<const RecordPlace> places);
  /// The bytes that the file has there now, whatever was read ahead. What was fetched stays valid.
  [[nodiscard]] std::string_view fetch_anew(const RecordPlace& place);

  /// Of what was written a moment ago. Empty where one of them was not, where copies would be more
  /// than kMostCopied bytes, and from the moment on at which one did not check: then RAM is not
  /// what it should be, and `fetch` and `fetch_anew` have to say what the file has.
  [[nodiscard]] std::optional<HeldRecords> hold(std::span<const RecordPlace> places,
                                                Hold how) const;

  // -- JournalReads
  void written(const std::shared_ptr<const SealedBatch>& batch) override { recent_.add(batch); }
  void freed(std::uint64_t segment) override { recent_.forget(segment); }
  /// See AheadReads::read.
  [[nodiscard]] std::size_t read_ahead(std::span<const RecordPlace> places) override {
    return ahead_.read(places);
  }
  /// While `waits_for_disk`, the disk is asked for them; not for more of them than it does at a
  /// time anyway.
  void expect(std::span<const RecordPlace> places) override;
  [[nodiscard]] bool waits_for_disk() const override { return reader_->has_waited(); }
  [[nodiscard]] std::uint64_t recent_bytes() const noexcept override { return recent_.most(); }

 private:
  static constexpr std::size_t kMostExpected = 1024;

  const SegmentFiles* files_;
  RecentBatches recent_;
  std::unique_ptr<storage::Reader> reader_;
  std::vector<std::string_view> found_;
  std::vector<std::size_t> missing_;  // of found_
  std::shared_ptr<std::atomic<bool>> distrust_ = std::make_shared<std::atomic<bool>>(false);
  RecordRuns direct_;
  RecordRuns anew_;
  AheadReads ahead_;
};

}  // namespace tarry::embedded
