#include "engines/embedded/shard/context/cleaner.h"

#include <algorithm>

#include "base/assert.h"
#include "base/planted.h"
#include "engines/embedded/state/full_copy.h"

namespace tarry::embedded {
namespace {

constexpr std::int64_t kHoldOffMs = 1'000;
// When pressed (see `Press`), cleaning continues while it can gain more than the live bytes divided
// by kLightShare (Press::lightly) or kHardShare (Press::hard).
constexpr std::uint64_t kLightShare = 8;
constexpr std::uint64_t kHardShare = 64;

}  // namespace

Cleaner::Cleaner(ShardState& state, Journal& journal, SegmentFiles& files, Mark mark)
    : state_(&state),
      journal_(&journal),
      files_(&files),
      newest_closed_(journal.closed().empty() ? 0 : journal.closed().back().number),
      mark_(std::move(mark)) {}

bool Cleaner::holds_off(std::int64_t now_boot_ms) {
  const auto& closed = journal_->closed();
  if (closed.size() == 1 && closed.front().number > newest_closed_) {
    held_off_until_ = now_boot_ms + kHoldOffMs;
  }
  if (!closed.empty()) newest_closed_ = closed.back().number;
  const bool is_over = closed.size() != 1 || scanner_ != nullptr || pressed_ != Press::none ||
                       state_->live.of(closed.front().number).messages == 0 ||
                       (held_off_until_ && now_boot_ms >= *held_off_until_);
  if (is_over) held_off_until_.reset();
  if (held_off_until_) mark("cleaning.holds-off");
  return held_off_until_.has_value();
}

bool Cleaner::wanted() {
  if (scanner_) return true;
  if (!journal_->oldest_is_written()) return false;
  const SegmentInfo& oldest = journal_->closed().front();
  if (state_->live.of(oldest.number).messages == 0) {
    mark("cleaning.dead-segment");
    return true;
  }
  if (resting()) {
    mark("cleaning.rests");
    pressed_ = Press::none;
    return false;
  }
  // Cleaning cannot win back the openings of segments. Counted as garbage, they would keep the
  // cleaner running for ever if there are more queues than fit into a third of a segment.
  const std::uint64_t openings = journal_->closed().size() * journal_->opening_bytes();
  const std::uint64_t live = state_->live.total_bytes();
  if (journal_->closed_bytes() > live / 3 * 4 + openings) {
    mark("cleaning.garbage");
    return true;
  }
  if (pressed_ == Press::none) return false;
  const std::uint64_t least = live / (pressed_ == Press::hard ? kHardShare : kLightShare);
  const std::uint64_t live_in_closed = live - state_->live.of(journal_->head().number).bytes;
  if (journal_->closed_bytes() > live_in_closed + openings + least) {
    mark(pressed_ == Press::hard ? "cleaning.pressed-hard" : "cleaning.pressed-lightly");
    return true;
  }
  mark("cleaning.press-ends");
  pressed_ = Press::none;
  return false;
}

bool Cleaner::head_wanted() const {
  if (pressed_ != Press::hard || scanner_) return false;
  constexpr std::uint64_t kLeast = 16 * 1024;
  const std::uint64_t live = state_->live.total_bytes();
  const std::uint64_t least = std::max(kLeast, live / kHardShare);
  const std::uint64_t live_in_head = state_->live.of(journal_->head().number).bytes;
  const std::uint64_t opening = journal_->opening_bytes();
  const std::uint64_t openings = journal_->closed().size() * opening;
  return journal_->closed_bytes() <= live - live_in_head + openings + live / kHardShare &&
         journal_->head().used > live_in_head + opening + least;
}

std::uint64_t Cleaner::cost() const {
  if (journal_->closed().empty()) return 0;
  const SegmentLife life = state_->live.of(journal_->closed().front().number);
  // A claim during the round takes room for the bytes that it adds to a copy.
  const std::uint64_t carried = std::min(life.messages, state_->histories.unwritten());
  const std::uint64_t delayed = std::min(life.messages, state_->unwritten_boot_dues());
  return life.bytes + carried * kCarriedBytes + delayed * kBootDueBytes + life.unwritten;
}

Result<void> Cleaner::copy(const PutRecord& record, Slice& slice) {
  PutRecord again = full_copy(*state_, record);
  if (TARRY_PLANTED_BUG(copy_forgets_the_past)) again.carried.reset();
  if (TARRY_PLANTED_BUG(copy_has_the_old_due)) again.due_ms = record.due_ms;
  if (again.carried) mark("cleaning.copy-carried");
  if (again.damaged) mark("cleaning.copy-damaged");
  if (again.carried && again.carried->stage == Stage::remembered) {
    mark("cleaning.copy-remembered");
  }
  return append(again, slice);
}

Result<void> Cleaner::append(const PutRecord& again, Slice& slice) {
  const std::uint64_t size = encoded_size(again);
  if (auto done = journal_->ensure_room(size, size, 0); !done) {
    mark("cleaning.no-room");
    return done;
  }
  const std::uint64_t head = journal_->newest_segment();
  const RecordPlace place = journal_->append(again);
  state_->evolve(again, place.segment, place.position);
  count_written(size, head);
  ++slice.copied;
  spent_ += size;
  return {};
}

// If cleaning's own records begin new segments, it also writes their openings.
void Cleaner::count_written(std::uint64_t record_bytes, std::uint64_t head_before) {
  round_written_ += record_bytes;
  if (journal_->newest_segment() != head_before) round_written_ += journal_->opening_bytes();
}

Result<void> Cleaner::copy_live(std::string_view body, std::uint64_t body_offset, Slice& slice) {
  const char* const begin = body.data();
  while (!body.empty()) {
    const std::uint64_t offset = body_offset + static_cast<std::uint64_t>(body.data() - begin);
    const std::size_t length = record_length(body);
    if (length == 0 || length > body.size()) break;
    const std::string_view one = body.substr(0, length);
    body.remove_prefix(length);
    // Nearly all records belong to messages that have gone, or whose newest record lies elsewhere.
    const auto ref = put_ref_of(one);
    if (!ref || !state_->slab.holds(ref->handle, ref->id)) continue;
    const Message& message = state_->slab[ref->handle];
    if (message.position.offset() != offset ||
        message.position.segment(journal_->newest_segment()) != segment_) {
      continue;
    }
    const auto put = decode_put(one);
    if (!put) continue;
    if (auto done = copy(*put, slice); !done) return done;
  }
  return {};
}

// Some of the segment's batches no longer check, so its records cannot be walked. Each live message
// is fetched by its own position instead. A record that checks is copied as it is (a bad payload is
// marked so). A record that does not check keeps its id and place under a key that we make.
Result<void> Cleaner::rescue(Slice& slice) {
  std::string buffer;
  for (Handle handle = 0; handle < state_->slab.end(); ++handle) {
    if (!state_->slab.is_live(handle)) continue;
    const Message& message = state_->slab[handle];
    if (message.position.segment(journal_->newest_segment()) != segment_) continue;
    auto put = read_put(*files_, segment_, message.position, buffer);
    if (put && put->ref == Ref{handle, message.id}) {
      mark("cleaning.rescue-copy");
      if (auto done = copy(*put, slice); !done) return done;
      continue;
    }
    if (!put && put.error().code != ErrorCode::damaged) return std::move(put).error();
    mark("cleaning.rescue-lost");
    const PutRecord lost = full_copy_of_lost(*state_, handle);
    if (message.generated_key == 0) {
      state_->index.erase(handle);
      state_->slab[handle].generated_key = 1;
    }
    if (auto done = append(lost, slice); !done) return done;
  }
  return {};
}

Result<void> Cleaner::finish(Slice& slice) {
  TARRY_ASSERT(state_->live.of(segment_).messages == 0);
  const std::uint64_t low_water = TARRY_PLANTED_BUG(low_water_not_raised) ? 1 : segment_ + 1;
  const MarksRecord marks{state_->next_id_mark(), low_water};
  const Record record = marks;
  const std::uint64_t size = encoded_size(record);
  if (auto done = journal_->ensure_room(size, size, 0); !done) return done;
  const std::uint64_t head = journal_->newest_segment();
  journal_->append(record);
  state_->evolve(marks);
  count_written(size, head);
  slice.finished = journal_->closed().front();
  round_freed_ += slice.finished->used;
  journal_->drop_oldest();
  state_->live.measure_growth();
  mark("cleaning.finished");
  end_round();
  scanner_.reset();
  file_.reset();
  return {};
}

std::uint64_t Cleaner::garbage() const noexcept {
  const std::uint64_t held = journal_->closed_bytes() + journal_->head().used;
  return held - std::min(held, state_->live.total_bytes());
}

// True until there is clearly more garbage than the last round could not free. Such garbage lies
// around messages that are live: the fewer of them are left, the more of it can be freed.
bool Cleaner::resting() const noexcept {
  if (!rests_) return false;
  const std::uint64_t live = state_->live.total_bytes();
  std::uint64_t stuck = rest_garbage_;
  if (live < rest_live_) {
    const double left = static_cast<double>(live) / static_cast<double>(rest_live_);
    stuck = static_cast<std::uint64_t>(static_cast<double>(rest_garbage_) * left);
  }
  const std::uint64_t more = pressed_ == Press::hard ? live / kHardShare : stuck / 8;
  // A round may leave this much garbage, or write it besides the copies.
  constexpr std::uint64_t kLeast = 2048;
  return garbage() < stuck + more + journal_->opening_bytes() + kLeast;
}

void Cleaner::end_round() {
  if (segment_ < round_end_) return;
  const std::uint64_t least = state_->live.total_bytes() / kHardShare;
  // Counts only bytes that cleaning itself freed and wrote: other writes in between are not its
  // failure.
  rests_ = round_freed_ <= round_written_ + least;
  rest_garbage_ = garbage();
  rest_live_ = std::max(round_live_, state_->live.total_bytes());
}

Result<Cleaner::Slice> Cleaner::run(std::uint64_t budget) {
  Slice slice;
  if (journal_->closed().empty()) return slice;
  const SegmentInfo& oldest = journal_->closed().front();
  if (!scanner_) {
    // Copying half a segment frees nothing, and would use the room of the verbs that end messages.
    if (auto room = journal_->ensure_room(cost(), journal_->largest_put(), 0); !room) {
      mark("cleaning.not-begun");
      return std::move(room).error();
    }
    segment_ = oldest.number;
    if (segment_ > round_end_) {
      round_end_ = journal_->closed().back().number;
      round_live_ = state_->live.total_bytes();
      round_freed_ = round_written_ = 0;
    }
    file_ = files_->get(segment_);
    TARRY_ASSERT(file_ != nullptr);
    scanner_ =
        std::make_unique<SegmentScanner>(*file_, oldest.salt, oldest.first_batch, oldest.used);
  }
  round_written_ += kBatchHeaderBytes + kBatchAlignment;  // the copies so far become a batch
  std::uint64_t read = 0;
  while (state_->live.of(segment_).messages > 0) {
    if (read >= budget) {
      mark("cleaning.slice-ends");
      return slice;
    }
    auto step = scanner_->next();
    if (!step) return std::move(step).error();
    if (*step != SegmentScanner::Step::batch) {
      if (auto done = rescue(slice); !done) return std::move(done).error();
      break;
    }
    read += scanner_->body().size();
    if (auto done = copy_live(scanner_->body(), scanner_->body_offset(), slice); !done) {
      mark("cleaning.again");
      // The copies so far stay; the rest of the segment is walked again next time.
      scanner_.reset();
      return std::move(done).error();
    }
  }
  if (auto done = finish(slice); !done) return std::move(done).error();
  return slice;
}

}  // namespace tarry::embedded
