#include "engines/embedded/shard/context/kept_room.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/assert.h"
#include "base/planted.h"
#include "engines/embedded/records/record_bounds.h"

namespace tarry::embedded {
namespace {

// The reserve for work lasts from one round of cleaning to the next. A round costs as many bytes as
// are live, so the reserve grows with the live bytes. It also grows with the messages, because each
// of them can be claimed and settled.
constexpr std::uint64_t kWorkPerMessage = 48;
// If the whole reserve does not fit, as much as fits is taken, to within this many bytes.
constexpr std::uint64_t kLeastStep = 16 * 1024;

}  // namespace

KeptRoom::Parts KeptRoom::parts(std::uint64_t more_bytes, std::uint64_t more) const noexcept {
  const std::uint64_t live = state_->live.total_bytes() + more_bytes;
  const std::uint64_t messages = state_->live.messages() + more;
  const std::uint64_t segment = journal_->largest_segment();
  const std::uint64_t leased = state_->lease_wheel.size();
  const auto kept = [this, messages](std::uint64_t besides) {
    return std::min(messages - std::min(messages, besides), options_.kept_claims);
  };
  Parts parts;
  const std::uint64_t more_than_carried =
      state_->live.total_unwritten() + state_->unwritten_boot_dues() * kBootDueBytes;
  parts.growth = state_->histories.unwritten() * kCarriedBytes + more_than_carried;
  parts.leases = leased * kRunOutBytes;
  parts.claims = kept(state_->histories.size()) * kCarriedBytes + kept(leased) * kRunOutBytes;
  // Neither a claim nor a copy changes the sum of all parts. So room that counted as surplus is
  // never missed later.
  const std::uint64_t grown = state_->histories.size() - state_->histories.unwritten();
  const std::uint64_t grow = messages - std::min(messages, grown);
  const std::uint64_t most = segment + std::max(segment / 2, state_->live.most_growth());
  parts.cleaning =
      std::min(live + grow * kCarriedBytes + more_than_carried, most) + journal_->opening_bytes();
  parts.work = options_.work_base + kept(0) * kWorkPerMessage + live / kWorkShare;
  return parts;
}

std::uint64_t KeptRoom::reserve(Purpose purpose, std::uint64_t more_bytes,
                                std::uint64_t more) const noexcept {
  if (TARRY_PLANTED_BUG(nothing_kept_back)) return 0;
  const Parts kept = parts(more_bytes, more);
  // Room for copies that cleaning has already made is not needed again: it is freed with the
  // cleaned segment. A push must leave it all the same, because pushes start one cleaning after
  // another.
  const std::uint64_t rest = kept.cleaning - std::min(kept.cleaning, cleaner_->spent());
  const bool comes_back = cleaner_->running() || freeing_ != 0;
  const std::uint64_t for_claims = comes_back ? rest : kept.cleaning;
  switch (purpose) {
    case Purpose::accept:
      return kept.cleaning + kept.growth + kept.work + kept.leases + kept.claims;
    case Purpose::work: return for_claims + kept.growth + kept.work / 2 + kept.leases;
    case Purpose::back: return for_claims + kept.growth + kept.work / 4;
    case Purpose::end: break;
  }
  return rest;
}

void KeptRoom::repay() {
  if (*failure_ || cleaner_->spent() == 0 || cleaner_->running()) return;
  const Parts kept = parts();
  // The next sync frees the room of cleaned segments. A reserve that is filled up before would take
  // room that claims need meanwhile.
  const std::uint64_t for_work = freeing_ == 0 ? 0 : kept.growth + kept.work + kept.leases;
  auto done = journal_->ensure_room(0, 0, kept.cleaning + for_work, journal_->largest_put());
  if (done) {
    cleaner_->repaid();
  } else if (!is_shortage(done.error())) {
    failure_->set(std::move(done).error());
  }
}

void KeptRoom::keep_back() {
  repay();
  if (*failure_) return;
  const std::uint64_t whole = reserve(Purpose::accept);
  const std::uint64_t largest = std::max(kEndRecord, journal_->largest_put());
  std::uint64_t have = 0;
  for (std::uint64_t step = whole; have < whole && step >= kLeastStep; step /= 2) {
    auto done = journal_->ensure_room(0, 0, have + step, largest);
    if (done) {
      have += step;
    } else if (!is_shortage(done.error())) {
      return failure_->set(std::move(done).error());
    }
  }
  tight_ = have < whole;
  if (tight_) cleaner_->press(Cleaner::Press::lightly);
}

bool KeptRoom::keeps_file(const SegmentInfo& cleaned) {
  const std::uint64_t largest = std::max(kEndRecord, journal_->largest_put());
  const bool keeps = journal_->keep_file(cleaned, reserve(Purpose::accept), largest);
  ++freeing_;
  return keeps;
}

void KeptRoom::note_freed(std::uint64_t segments) {
  TARRY_ASSERT(segments <= freeing_);
  freeing_ -= segments;
}

void KeptRoom::reuse(std::uint64_t segments) {
  const std::uint64_t largest = std::max(kEndRecord, journal_->largest_put());
  for (; segments > 0; --segments) {
    auto done = journal_->reuse_file(reserve(Purpose::accept), largest);
    if (!done) return failure_->set(std::move(done).error());
  }
}

// Room is freed after a sync. If cleaning continued before the sync, it would take the room of the
// verbs that end messages.
bool KeptRoom::cleaning_waits() const {
  return freeing_ != 0 && !cleaner_->running() && cleaner_->spent() != 0 &&
         cleaner_->spent() + cleaner_->cost() > parts().cleaning;
}

std::optional<Error> KeptRoom::take(std::uint64_t bytes, std::uint64_t largest, Purpose purpose,
                                    std::uint64_t accepted) {
  repay();
  if (*failure_) return failure_->error();
  const std::uint64_t kept = reserve(purpose, accepted == 0 ? 0 : bytes, accepted);
  const std::uint64_t largest_kept =
      std::max({kEndRecord, journal_->largest_put(), purpose == Purpose::accept ? largest : 0});
  auto done = journal_->ensure_room(bytes, largest, kept, largest_kept);
  if (done) {
    if (purpose == Purpose::accept) {
      tight_ = false;
    } else if (tight_) {
      cleaner_->press(Cleaner::Press::hard);  // before the verbs that end messages run short too
    }
    return std::nullopt;
  }
  if (is_shortage(done.error())) {
    tight_ = true;
    cleaner_->press(purpose == Purpose::accept ? Cleaner::Press::lightly : Cleaner::Press::hard);
  } else if (done.error().code != ErrorCode::too_large) {
    failure_->set(std::move(done).error());
    return failure_->error();
  }
  Error error = std::move(done).error();
  error.message = "no space for " + std::to_string(bytes) + " bytes with " + std::to_string(kept) +
                  " kept back for what must still work: " + error.message;
  return error;
}

}  // namespace tarry::embedded
