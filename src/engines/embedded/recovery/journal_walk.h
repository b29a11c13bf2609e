// JournalWalk: visits the good batches of a damaged journal in order, and reports the gaps between
// them. Recovery stops at the first bad byte; this walk continues after it.
//
// A batch is good if its checksum is right, it has its segment's salt, and its number is above that
// of the last good batch. For a segment without a header the salt follows from the store's hash
// seed (`salt_of`). If no batch has that salt, STORE may be lost, or the segment is older than that
// rule. Then the walk takes the salt from the place of the segment's first batch.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "engines/embedded/journal/journal_format.h"
#include "engines/embedded/journal/segment_files.h"
#include "engines/embedded/journal/segment_scanner.h"
#include "storage/storage.h"

namespace tarry::embedded {

/// A place where bytes or a whole file are lost.
struct Loss {
  std::string file;  // with its path
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // 0 if the file is missing
  std::string what;
};

class JournalWalk {
 public:
  class Visitor {
   public:
    virtual ~Visitor() = default;
    /// The next batch is from a segment whose opening is lost, so its boot is not known.
    virtual void opening_lost() = 0;
    /// Something is lost between the last batch and the next one.
    virtual void gap() = 0;
    /// Returns the offset in `body` at which reading had to stop, or the size of `body` if
    /// everything was read.
    virtual std::size_t batch(std::uint64_t segment, std::uint64_t body_offset,
                              std::string_view body) = 0;
  };

  struct Figures {
    std::uint64_t segments = 0;
    std::uint64_t batches = 0;       // good ones
    std::uint64_t lost_batches = 0;  // as the gaps in batch numbers tell
    std::uint64_t torn_bytes = 0;    // at the end of the newest segment
    std::vector<Loss> losses;
  };

  /// `place`: that of any segment of the shard.
  JournalWalk(storage::Directory& directory, const SegmentPlace& place, std::uint64_t hash_seed)
      : directory_(&directory), place_(place), hash_seed_(hash_seed) {}

  /// Errors: `unsupported` (a segment of a newer version), `permission_denied` and the like.
  Result<void> open();

  /// Starts at segment `first`. `progress` gets a number of bytes.
  Result<Figures> run(std::uint64_t first, Visitor& visitor,
                      const std::function<void(std::uint64_t)>& progress = {});

  /// The journal's files, to read messages from; they are forgiving files.
  [[nodiscard]] const SegmentFiles& files() const noexcept { return files_; }
  /// The time at which the visitor's present batch was written.
  [[nodiscard]] std::int64_t written_ms() const noexcept { return written_ms_; }
  [[nodiscard]] std::uint64_t newest_segment() const noexcept {
    return segments_.empty() ? 0 : segments_.back().number;
  }

 private:
  struct Segment {
    std::uint64_t number = 0;
    std::uint64_t size = 0;
    std::shared_ptr<storage::File> file;
    HeaderState state = HeaderState::broken;
    SegmentHeader header;
  };

  [[nodiscard]] std::string path_of(std::uint64_t segment) const;
  [[nodiscard]] SegmentPlace place_of(std::uint64_t segment) const noexcept;
  [[nodiscard]] bool is_ours(const Segment& segment) const noexcept;
  [[nodiscard]] bool is_newest(std::size_t i) const noexcept;
  void lose(std::uint64_t segment, std::uint64_t offset, std::uint64_t bytes, std::string what);
  void lose_missing(std::uint64_t first, std::uint64_t behind);
  void reach(std::uint64_t batch, Visitor& visitor);
  Result<std::optional<std::uint64_t>> read_salt(std::size_t i);
  [[nodiscard]] std::uint64_t numbers_end(std::size_t i) const;
  Result<std::optional<std::uint64_t>> lost_salt(std::size_t i) const;
  Result<void> walk_segment(std::size_t i, std::uint64_t salt, Visitor& visitor);
  Result<void> look_behind(std::size_t i, SegmentScanner& scanner, const Seal* seal);

  storage::Directory* directory_;
  SegmentPlace place_;
  std::uint64_t hash_seed_;
  std::uint64_t begun_ = 0;  // the begun mark
  std::vector<Segment> segments_;
  std::set<std::uint64_t> no_files_;  // segments whose file is no regular file
  SegmentFiles files_;

  Figures figures_;
  std::uint64_t next_batch_ = 0;  // 0: not known yet
  bool lost_something_ = false;   // since the last good batch
  std::int64_t written_ms_ = 0;
};

}  // namespace tarry::embedded
