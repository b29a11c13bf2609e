// RecordReads: reads the records of a journal while it is written, many at once: from RAM if they
// are there, otherwise from the files. During its life a record lies in several places. The table
// says which thread may read it there, and with which function:
//
//   place                             | from, until                  | thread and function
//   ----------------------------------|------------------------------|-----------------------------
//   the open batch, or a batch that   | decided, written             | S: Journal::read
//   is not written yet                |                              |
//   the segment's file                | written, segment removed     | S: Journal::read
//                                     |                              | C: fetch, fetch_anew,
//                                     |                              |    ReplyReader (get, list)
//   a recent batch in RAM             | written, 8 MiB later         | C: fetch, hold
//   a chunk that was read ahead       | read_ahead, 32 chunks later  | C: fetch
//   HeldRecords                       | hold, the answer             | A: ReplyReader::add
//
// S has the shard. C has the committer: it reads records for deliveries, or holds them for A. A
// gives the answer; it may be the caller's own thread.
//
// Thread safety: one thread calls `read_ahead`, at the same time as C works, but not while C
// removes segments: files that are open then would keep their room. C calls the other functions.
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

/// Records in RAM that any thread may use later: copies, or views into `batches`.
struct HeldRecords {
  std::vector<std::string_view> records;
  std::vector<std::shared_ptr<const SealedBatch>> batches;
  std::unique_ptr<char[]> copies;
  std::shared_ptr<std::atomic<bool>> distrust;  // set by a thread that finds a bad checksum
};

class RecordReads final : public JournalReads {
 public:
  /// Bytes of a shard's latest writes that stay in RAM, to be read from there.
  static constexpr std::uint64_t kRecentBytes = 8ull << 20;
  /// At most this many bytes are copied for an answer that is given later. Copying more would take
  /// as long as reading it again.
  static constexpr std::uint64_t kMostCopied = 256ull << 10;
  /// How records are held. where_they_lie is for a reader that reads in a moment, because each
  /// record may keep a batch of megabytes in RAM. by_copies is for a reader that waits in a queue.
  enum class Hold : std::uint8_t { where_they_lie, by_copies };

  /// `files` must outlive it.
  RecordReads(const SegmentFiles& files, const storage::Directory& directory,
              std::uint64_t recent_bytes = kRecentBytes)
      : files_(&files),
        recent_(recent_bytes),
        reader_(directory.make_reader()),
        ahead_(files, directory.make_reader()) {}

  /// The bytes of each record, at most as many as its position says; fewer, or none, if they cannot
  /// be read. Valid until the next call, or until a batch is written.
  [[nodiscard]] std::span<const std::string_view> fetch(std::span<const RecordPlace> places);
  /// The bytes that are in the file now, even if the record was read ahead. Earlier fetched bytes
  /// stay valid.
  [[nodiscard]] std::string_view fetch_anew(const RecordPlace& place);

  /// Holds records that were written recently. Empty if one of them is not in RAM, if copies would
  /// exceed kMostCopied bytes, or after a checksum was wrong: RAM cannot be trusted then, and
  /// `fetch` and `fetch_anew` read the file.
  [[nodiscard]] std::optional<HeldRecords> hold(std::span<const RecordPlace> places,
                                                Hold how) const;

  /// Reads some of the records that claims will soon need, in this order. Returns how many of them
  /// are done, at least one. See AheadReads::read.
  [[nodiscard]] std::size_t read_ahead(std::span<const RecordPlace> places) {
    return ahead_.read(places);
  }

  // -- JournalReads
  void written(const std::shared_ptr<const SealedBatch>& batch) override { recent_.add(batch); }
  void freed(std::uint64_t segment) override { recent_.forget(segment); }
  /// Asks the disk for at most kMostExpected records: it does not read more at a time anyway.
  void expect(std::span<const RecordPlace> places) override;
  [[nodiscard]] bool waits_for_disk() const override { return reader_->has_waited(); }
  [[nodiscard]] std::uint64_t recent_bytes() const noexcept override { return recent_.most(); }

 private:
  static constexpr std::size_t kMostExpected = 1024;

  const SegmentFiles* files_;
  RecentBatches recent_;
  std::unique_ptr<storage::Reader> reader_;
  std::vector<std::string_view> found_;
  std::vector<std::size_t> missing_;  // indices in found_
  std::shared_ptr<std::atomic<bool>> distrust_ = std::make_shared<std::atomic<bool>>(false);
  RecordRuns direct_;
  RecordRuns anew_;
  AheadReads ahead_;
};

}  // namespace tarry::embedded
