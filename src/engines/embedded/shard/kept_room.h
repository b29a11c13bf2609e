// KeptRoom: what is kept back of a journal's room, so that a full disk stops pushes and nothing
// else. On a full disk, in this order: nothing more is accepted; claims wait for cleaning; what
// gives them back does; what ends messages goes on. What cleaning needs for one segment is given to
// nothing else, and cleaning takes nothing else. Why that is enough: docs/decisions/0001.
//
// Errors: an error that is a failure is the journal's own; the shard stops with it. Any other
// refusal is `no_space` or `too_large`, and nothing has changed.
//
// Thread safety: none; the shard's thread.
#pragma once

#include <cstdint>
#include <optional>

#include <tarry/result.h>

#include "engines/embedded/journal/journal.h"
#include "engines/embedded/shard/cleaner.h"
#include "engines/embedded/state/shard_state.h"

namespace tarry::embedded {

/// What is kept back for work is this part of the live bytes, and more.
inline constexpr std::uint64_t kWorkShare = 16;

/// What room is wanted for decides how much must be left behind.
enum class Purpose : std::uint8_t {
  accept,  // pushes, and what else makes more of the store than was
  work,    // claims, reasons, and what else can wait for cleaning
  back,    // what gives claims back: release, retry, bury
  end,     // what ends messages: ack, cancel, purge, time
};

class KeptRoom {
 public:
  struct Options {
    std::uint64_t work_base = 0;    // bytes kept back for work, however little there is
    std::uint64_t kept_claims = 0;  // so many of the messages can be claimed on a full disk
  };
  struct Refusal {
    Error error;
    bool is_failure = false;
  };

  KeptRoom(ShardState& state, Journal& journal, Cleaner& cleaner, Options options)
      : state_(&state), journal_(&journal), cleaner_(&cleaner), options_(options) {}

  /// Room for `bytes` in records, none longer than `largest`; `accepted` messages among them.
  [[nodiscard]] std::optional<Refusal> take(std::uint64_t bytes, std::uint64_t largest,
                                            Purpose purpose, std::uint64_t accepted = 0);
  /// What must stay behind when there are `more` messages of `more_bytes` than now.
  [[nodiscard]] std::uint64_t reserve(Purpose purpose, std::uint64_t more_bytes = 0,
                                      std::uint64_t more = 0) const noexcept;
  /// Takes what must be kept back, as far as there is room. Error: a failure.
  [[nodiscard]] std::optional<Error> keep_back();
  /// Takes again what cleaning has used of its reserve, if there is room. Error: a failure.
  [[nodiscard]] std::optional<Error> repay();

  /// A segment has been cleaned. True: its file is to be written again, since hardly more is in
  /// hand than what is kept back. False: it is to be removed.
  [[nodiscard]] bool keeps_file(const SegmentInfo& cleaned);
  /// So many cleaned segments' files are gone, or may be written again.
  void note_freed(std::uint64_t segments);
  /// So many of them may be written again. Error: a failure.
  [[nodiscard]] std::optional<Error> reuse(std::uint64_t segments);

  /// Something that must be kept back is not.
  [[nodiscard]] bool is_short() const noexcept { return tight_ || cleaner_->spent() != 0; }
  /// Cleaning has spent what is kept back for it, and what it has freed is not here yet.
  [[nodiscard]] bool cleaning_waits() const;

 private:
  struct Parts {
    std::uint64_t cleaning = 0;  // for one segment
    std::uint64_t growth = 0;    // of those that have been claimed since they were written
    std::uint64_t work = 0;
    std::uint64_t leases = 0;  // that they run out
    std::uint64_t claims = 0;  // growth and leases of those that can still be claimed
  };
  [[nodiscard]] Parts parts(std::uint64_t more_bytes = 0, std::uint64_t more = 0) const noexcept;

  ShardState* state_;
  Journal* journal_;
  Cleaner* cleaner_;
  Options options_;
  std::uint64_t freeing_ = 0;  // cleaned segments whose room is on its way
  bool tight_ = false;         // no space was left, and nothing has been accepted since
};

}  // namespace tarry::embedded
