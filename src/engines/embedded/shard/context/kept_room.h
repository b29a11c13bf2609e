// KeptRoom: the reserve of a journal's room, so that a full disk stops pushes and nothing else. As
// a disk fills up, pushes are refused first. Then claims have to wait for cleaning, and then verbs
// that return claimed messages to the queue. Verbs that end messages always work. The room for
// cleaning one segment is given to nothing else, and cleaning uses no other room. Why that is
// enough: docs/decisions/0001.
//
// Errors: `no_space` or `too_large`, and nothing has changed. Any other error of the journal
// becomes the shard's failure: all later requests are refused with that error.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <optional>

#include <tarry/result.h>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/shard/context/cleaner.h"
#include "engines/embedded/shard/requests/shard_failure.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

/// The reserve for work is 1/kWorkShare of the live bytes, plus a base.
inline constexpr std::uint64_t kWorkShare = 16;

/// Why room is wanted. That decides how much room must remain.
enum class Purpose : std::uint8_t {
  accept,  // pushes, and other verbs that make the store larger
  work,    // claims, reasons, and other work that can wait for cleaning
  back,    // verbs that end a claim, but not its message: release, retry, bury
  end,     // verbs that end messages: ack, cancel, purge, time
};

class KeptRoom {
 public:
  struct Options {
    std::uint64_t work_base = 0;    // the least reserve for work, bytes
    std::uint64_t kept_claims = 0;  // how many messages can be claimed on a full disk
  };

  KeptRoom(ShardState& state, Journal& journal, Cleaner& cleaner, ShardFailure& failure,
           Options options)
      : state_(&state),
        journal_(&journal),
        cleaner_(&cleaner),
        failure_(&failure),
        options_(options) {}

  /// Takes room for `bytes` of records, none longer than `largest`. `accepted`: how many new
  /// messages they hold.
  [[nodiscard]] std::optional<Error> take(std::uint64_t bytes, std::uint64_t largest,
                                          Purpose purpose, std::uint64_t accepted = 0);
  /// How many bytes must remain once there are `more` additional messages, of `more_bytes`
  /// together.
  [[nodiscard]] std::uint64_t reserve(Purpose purpose, std::uint64_t more_bytes = 0,
                                      std::uint64_t more = 0) const noexcept;
  /// Takes the whole reserve, as far as there is room.
  void keep_back();
  /// Fills up cleaning's reserve again, if there is room.
  void repay();

  /// Call `keeps_file` when a segment has been cleaned. True: use its file again, because little
  /// more than the reserve remains. False: remove the file.
  [[nodiscard]] bool keeps_file(const SegmentInfo& cleaned);
  /// Call `note_freed` when the files of `segments` cleaned segments are removed, or may be used
  /// again.
  void note_freed(std::uint64_t segments);
  /// The journal may write over the files of `segments` cleaned segments.
  void reuse(std::uint64_t segments);

  /// True if part of the reserve is missing.
  [[nodiscard]] bool is_short() const noexcept { return tight_ || cleaner_->spent() != 0; }
  /// True if cleaning has to wait: it has used its reserve, and the room of the cleaned segments is
  /// not freed yet.
  [[nodiscard]] bool cleaning_waits() const;

 private:
  struct Parts {
    std::uint64_t cleaning = 0;  // for one segment
    std::uint64_t growth = 0;    // copies of claimed messages will be longer by this
    std::uint64_t work = 0;
    std::uint64_t leases = 0;  // for leases that run out
    std::uint64_t claims = 0;  // the same two for messages that can still be claimed
  };
  [[nodiscard]] Parts parts(std::uint64_t more_bytes = 0, std::uint64_t more = 0) const noexcept;

  ShardState* state_;
  Journal* journal_;
  Cleaner* cleaner_;
  ShardFailure* failure_;
  Options options_;
  std::uint64_t freeing_ = 0;  // cleaned segments whose room is not freed yet
  bool tight_ = false;         // no space was left, and nothing has been accepted since
};

}  // namespace tarry::embedded
