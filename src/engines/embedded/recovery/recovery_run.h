// One recovery of one shard, in three parts, each in a file: which segments belong to the journal
// (recovery_segments.cpp), what they contain (recovery_batches.cpp), and an end that can be
// continued (recovery_rewrite.cpp). Every branch that decides marks its row (recovery_rows.h).
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "engines/embedded/journal/segment_scanner.h"
#include "engines/embedded/recovery/recovery.h"

namespace tarry::embedded {

class RecoveryRun {
 public:
  RecoveryRun(storage::Directory& directory, SegmentFiles& files, ShardState& state,
              const RecoveryOptions& options)
      : directory_(directory), files_(files), state_(state), options_(options) {}

  Result<Recovered> run();

 private:
  static constexpr std::uint64_t kPiece = 1ull << 20;  // read or written at a time

  struct Found {
    std::uint64_t number = 0;
    std::uint64_t size = 0;
    std::shared_ptr<storage::File> file;
    SegmentHeader header;
  };
  struct Unproven {
    std::uint64_t number = 0;
    std::uint64_t segment = 0;
    std::uint64_t offset = 0;
  };

  void tear(std::uint64_t segment, std::uint64_t offset, std::uint64_t bytes);
  void cut(std::uint64_t segment, std::uint64_t batches);
  void mark(Row row) const {
    if (options_.mark) options_.mark(row);
  }
  [[nodiscard]] Unexpected damage(std::uint64_t segment, std::uint64_t offset,
                                  const std::string& what) const;
  [[nodiscard]] Unexpected missing(Row row, std::uint64_t segment) const;

  // -- which segments
  Result<void> open_segments();
  Result<HeaderState> read_header(Found& found);
  Result<void> drop_unwritten();
  static bool has_none(HeaderState state);
  std::size_t first_unwritten() const;
  static Result<std::uint64_t> written_end(const Found& found);
  std::uint64_t last_first_batch() const;
  Result<void> drop_newest();
  Unexpected lost_header(std::uint64_t segment) const;
  Result<void> check_unwritten();
  Result<void> check_begun() const;
  Result<void> check_header(std::size_t i);
  Result<void> find_low_water();
  Result<void> drop_below_low_water();
  void drop_front();
  static std::uint64_t proven_by_header(const SegmentHeader& header);

  // -- what is in them
  Result<void> replay_all();
  Result<void> check_guess();
  Result<bool> replay_segment(std::size_t i);
  Result<std::uint64_t> look_beyond(std::size_t i, SegmentScanner& scanner);
  Result<void> replay_batch(const Found& found, const SegmentScanner& scanner);

  // -- the end
  Result<void> settle_tail();
  Result<void> sync_absence();
  Result<void> finish_newest();
  Result<void> raise_mark();
  Result<bool> newest_goes_on() const;
  Result<void> rewrite_unproven();
  static Result<void> rewrite(storage::File& file, std::uint64_t from, std::uint64_t end);

  storage::Directory& directory_;
  SegmentFiles& files_;
  ShardState& state_;
  const RecoveryOptions& options_;
  std::deque<Found> segments_;
  std::deque<HeaderState> headers_;    // of segments_, while they are checked
  std::vector<std::uint64_t> doomed_;  // removed at the end: a refused journal loses no file
  std::uint64_t oldest_unwritten_ = 0;
  std::uint64_t unwritten_proof_ = 0;  // the last batch that an unwritten one states as durable
  std::uint64_t begun_ = 0;            // the begun mark
  std::uint64_t low_water_ = 0;
  bool mark_is_guess_ = false;
  std::uint64_t proven_ = 0;       // the last batch known durable
  std::deque<Unproven> unproven_;  // good batches after it
  Recovered recovered_;
};

}  // namespace tarry::embedded
