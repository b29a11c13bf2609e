#include "engines/embedded/journal.h"

#include <algorithm>

#include "base/assert.h"
#include "base/planted.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kStep = 4ull << 20;         // the head grows on disk by so much at a time
constexpr std::uint64_t kPage = 4096;               // or so much, where there is little left
constexpr std::uint64_t kBatchTarget = 8ull << 20;  // a batch is closed when it gets this long
constexpr std::uint64_t kSlack = kBatchHeaderBytes + kBatchAlignment;
constexpr int kMaxGrowths = 100'000;  // bounds ensure_room: 100,000 segments of the least size

}  // namespace

Journal::Journal(Config config, storage::Directory& directory, SegmentFiles& files,
                 const Committer& committer, JournalTail tail, Opening opening)
    : config_(config),
      directory_(&directory),
      files_(&files),
      committer_(&committer),
      opening_(std::move(opening)),
      closed_(std::move(tail.segments)),
      was_clean_(tail.is_clean),
      next_segment_(tail.next_segment),
      next_batch_(tail.next_batch),
      tail_proven_(tail.proven) {
  largest_segment_ = config_.segment_bytes;
  for (const SegmentInfo& segment : closed_) {
    largest_segment_ = std::max(largest_segment_, segment.used);
  }
  if (tail.goes_on && !closed_.empty()) {
    head_ = closed_.back();
    closed_.pop_back();
    head_file_ = files_->get(head_.number);
    TARRY_ASSERT(head_file_ != nullptr);
    resumed_ = true;
  }
  for (const SegmentInfo& segment : closed_) closed_bytes_ += segment.used;
  std::string sample;
  opening_(sample);
  last_opening_bytes_ = sample.size();
}

// -- room

std::uint64_t Journal::opening_bytes() const noexcept {
  return kSegmentHeaderBytes + kSlack + last_opening_bytes_;
}

// What a fresh segment spends before the first record, with some growth of the opening allowed for.
std::uint64_t Journal::overhead() const noexcept {
  return opening_bytes() + last_opening_bytes_ / 4 + 1024;
}

// A batch may end anywhere, and the next one needs its header.
std::uint64_t Journal::head_left() const noexcept {
  const std::uint64_t end = head_end() + 2 * kSlack + (resumed_ ? overhead() : 0);
  return head_.allocated > end ? head_.allocated - end : 0;
}

// Each segment may waste as much as the record that did not fit.
std::uint64_t Journal::room_in(std::uint64_t segment, std::uint64_t largest) const noexcept {
  const std::uint64_t spent = overhead() + largest;
  return segment > spent ? segment - spent : 0;
}

std::uint64_t Journal::room(std::uint64_t largest) const noexcept {
  const std::uint64_t left = head_left();
  std::uint64_t sum = left > largest ? left - largest : 0;
  for (const Prepared& prepared : prepared_) sum += room_in(prepared.info.allocated, largest);
  return sum;
}

Result<void> Journal::grow_head(std::uint64_t to) {
  if (auto done = head_file_->allocate(to); !done) return done;
  head_.allocated = to;
  return {};
}

Result<void> Journal::prepare(std::uint64_t bytes) {
  auto file = directory_->open(segment_name(next_segment_), storage::OpenMode::create_new);
  if (!file) return std::move(file).error();
  if (auto done = (*file)->allocate(bytes); !done) {
    file->reset();
    if (auto removed = directory_->remove(segment_name(next_segment_)); !removed) return removed;
    return done;
  }
  return add_prepared(std::move(*file), bytes);
}

Result<void> Journal::add_prepared(std::shared_ptr<storage::File> file, std::uint64_t bytes) {
  // Names become durable in the order of their numbers: recovery may then take a gap for a loss.
  if (!TARRY_PLANTED_BUG(skip_directory_sync)) {
    if (auto synced = directory_->sync(); !synced) return synced;
  }
  Prepared prepared;
  prepared.info.number = next_segment_++;
  prepared.info.allocated = bytes;
  prepared.file = std::move(file);
  files_->add(prepared.info.number, prepared.file);
  prepared_.push_back(std::move(prepared));
  return {};
}

// Takes more room for at least `missing` bytes, in whole steps: at the end of the head, of the last
// prepared segment, or in a new one.
Result<void> Journal::grow(std::uint64_t missing, std::uint64_t largest, std::uint64_t step) {
  const auto whole = [step](std::uint64_t bytes) { return (bytes + step - 1) / step * step; };
  const std::uint64_t most = config_.segment_bytes;
  // The head only while nothing is prepared: rolling leaves allocated bytes to spare behind.
  if (prepared_.empty() && head_.number != 0 && head_.allocated < most) {
    return grow_head(std::min(most, head_.allocated + whole(missing)));
  }
  if (!prepared_.empty() && prepared_.back().info.allocated < most) {
    Prepared& last = prepared_.back();
    return grow_prepared(last, std::min(most, last.info.allocated + whole(missing)));
  }
  // Twice: `room` counts on all but one such record, and would ask for thousands of segments of
  // one.
  const std::uint64_t least = overhead() + 2 * largest + kSlack;
  const std::uint64_t size = std::max(least, std::min(most, whole(missing + overhead())));
  if (size > kMaxSegmentBytes) {
    return Unexpected(ErrorCode::too_large, "a record of " + std::to_string(largest) +
                                                " bytes does not fit into a segment");
  }
  return prepare(size);
}

Result<void> Journal::grow_prepared(Prepared& prepared, std::uint64_t to) {
  if (auto done = prepared.file->allocate(to); !done) return done;
  prepared.info.allocated = to;
  return {};
}

// Queues made since a segment was prepared lengthen what it opens with.
Result<void> Journal::fit_openings() {
  for (Prepared& prepared : prepared_) {
    if (prepared.info.allocated >= overhead()) continue;
    if (auto done = grow_prepared(prepared, overhead()); !done) return done;
  }
  return {};
}

Result<void> Journal::ensure_room(std::uint64_t bytes, std::uint64_t largest, std::uint64_t reserve,
                                  std::uint64_t largest_of_reserve) {
  if (auto done = fit_openings(); !done) return done;
  const std::uint64_t wanted = bytes + reserve;
  const std::uint64_t longest = std::max(largest, largest_of_reserve);
  for (int i = 0; i < kMaxGrowths; ++i) {
    const std::uint64_t here = room(largest);
    const std::uint64_t have = room(largest_of_reserve);
    if (here >= bytes && have >= wanted && (head_.number != 0 || !prepared_.empty())) return {};
    const std::uint64_t missing =
        std::max(bytes - std::min(here, bytes), wanted - std::min(have, wanted)) + longest;
    // In long steps, so that it is seldom; where those do not fit, no more than needed.
    auto grown = grow(missing, longest, std::min(kStep, config_.segment_bytes));
    if (!grown && grown.error().code == ErrorCode::no_space) grown = grow(missing, longest, kPage);
    if (!grown) return grown;
  }
  return Unexpected(ErrorCode::no_space,
                    "the journal cannot reserve " + std::to_string(wanted) + " bytes");
}

Result<bool> Journal::close_head(std::uint64_t least, std::uint64_t enough) {
  forget_written();
  if (head_.number == 0 || !open_.empty() || !in_flight_.empty()) return false;
  std::uint64_t in_prepared = 0;
  for (const Prepared& prepared : prepared_) {
    in_prepared += room_in(prepared.info.allocated, largest_put_);
  }
  const bool goes_on = !prepared_.empty() && prepared_.front().info.allocated >= overhead();
  if (goes_on && in_prepared >= enough) {
    roll();
    return true;
  }
  const std::uint64_t spare = (head_.allocated - head_.used) / kPage * kPage;
  // The pages that the two files' ends and the file system's own notes may take.
  constexpr std::uint64_t kLost = 4 * kPage;
  std::uint64_t after = spare;
  for (const Prepared& prepared : prepared_) after += prepared.info.allocated - overhead();
  if (after < overhead() + least + kLost) return false;
  if (prepared_.empty() && spare < overhead() + kLost) return false;
  if (auto cut = head_file_->truncate(head_.used); !cut) return std::move(cut).error();
  if (prepared_.empty()) {
    Result<void> prepared = prepare(spare - kPage);
    if (!prepared && prepared.error().code == ErrorCode::no_space)
      prepared = prepare(spare - kLost);
    if (!prepared) {
      // Somebody else was quicker, or there is no descriptor: the head takes back what it can.
      if (!head_file_->allocate(head_.allocated)) head_.allocated = head_.used;
      if (is_shortage(prepared.error())) return false;
      return std::move(prepared).error();
    }
  }
  head_.allocated = head_.used;
  roll();
  return true;
}

// -- appending

void Journal::open_batch() {
  TARRY_ASSERT(open_.empty());
  // Most are about as long as the one before; growing would copy it again and again.
  open_.reserve(last_batch_bytes_ + last_batch_bytes_ / 8);
  open_.assign(kBatchHeaderBytes, '\0');
  run_start_ = 0;
}

// In a segment that an earlier run has begun.
void Journal::open_run() {
  const std::uint64_t needed = kBatchHeaderBytes + last_opening_bytes_ + kBatchAlignment;
  if (head_end() + needed > head_.allocated) return roll();
  resumed_ = false;
  open_batch();
  opening_(open_);
  last_opening_bytes_ = open_.size() - kBatchHeaderBytes;
}

void Journal::seal_open_batch(std::int64_t realtime_ms) {
  if (open_.empty()) return;
  auto batch = std::make_shared<SealedBatch>();
  batch->number = next_batch_++;
  batch->segment = head_.number;
  batch->offset = head_.used;
  batch->segment_header = std::exchange(segment_header_, {});
  BatchHeader header;
  header.salt = head_.salt;
  header.number = batch->number;
  header.durable = committer_->durable();
  if (TARRY_PLANTED_BUG(durable_overstated)) header.durable = header.number;
  header.realtime_ms = realtime_ms;
  header.body_bytes = static_cast<std::uint32_t>(open_.size() - kBatchHeaderBytes);
  seal_batch(open_, header);
  last_batch_bytes_ = open_.size();
  // It may stay in RAM for a while.
  if (open_.capacity() > 2 * open_.size()) open_.shrink_to_fit();
  batch->bytes = std::exchange(open_, {});
  head_.used += batch->bytes.size();
  untaken_bytes_ += batch->bytes.size();
  run_start_ = 0;
  in_flight_.push_back(batch);
  sealed_.push_back(std::move(batch));
}

void Journal::roll() {
  seal_open_batch(last_realtime_ms_);
  Seal seal;
  if (head_.number != 0) {
    const bool synced = config_.policy != SyncPolicy::os || TARRY_PLANTED_BUG(seal_overstated);
    seal = {head_.number, head_.used, next_batch_ - 1, resumed_ ? tail_proven_ : synced};
    resumed_ = false;
    closed_bytes_ += head_.used;
    largest_segment_ = std::max(largest_segment_, head_.used);
    closed_.push_back(head_);
  } else if (!closed_.empty()) {
    const SegmentInfo& last = closed_.back();
    seal = {last.number, last.used, next_batch_ - 1, tail_proven_};
  }
  TARRY_ASSERT(!prepared_.empty());
  Prepared next = std::move(prepared_.front());
  prepared_.pop_front();
  head_ = next.info;
  head_file_ = std::move(next.file);
  head_.salt = config_.random();
  head_.first_batch = next_batch_;
  SegmentHeader header;
  header.shard = config_.shard;
  header.store_id = config_.store_id;
  header.segment = head_.number;
  header.salt = head_.salt;
  header.first_batch = next_batch_;
  header.seal = seal;
  segment_header_ = encode(header);
  head_.used = kSegmentHeaderBytes;
  open_batch();
  opening_(open_);
  last_opening_bytes_ = open_.size() - kBatchHeaderBytes;
}

void Journal::begin_record(std::size_t size) {
  if (head_.number == 0) {
    roll();
  } else if (resumed_) {
    open_run();
  }
  if (open_.size() > kBatchTarget) seal_open_batch(last_realtime_ms_);
  const std::uint64_t needed = (open_.empty() ? kBatchHeaderBytes : 0) + size + kBatchAlignment;
  while (head_end() + needed > head_.allocated) roll();
  if (open_.empty()) open_batch();
  TARRY_ASSERT(head_end() + size <= head_.allocated);
}

RecordPlace Journal::append(const PutRecord& record) {
  const std::size_t size = encoded_size(record);
  begin_record(size);
  run_start_ = 0;
  largest_put_ = std::max<std::uint64_t>(largest_put_, size);
  const RecordPlace place{head_.number, Position(head_.number, head_end(), size)};
  append_record(open_, record);
  return place;
}

void Journal::append(const Record& record) {
  begin_record(encoded_size(record));
  run_start_ = 0;
  append_record(open_, record);
}

void Journal::append(const QueueRecord& record, bool is_new) {
  const Record as_any(record);
  append(as_any);
  if (is_new) last_opening_bytes_ += encoded_size(as_any) + kCountersBytes;
}

void Journal::append_gone(GoneWhy why, std::uint32_t queue, Ref ref) {
  const auto detail = static_cast<std::uint8_t>(why);
  if (run_start_ != 0 && run_type_ == RecordType::gone && run_detail_ == detail &&
      run_queue_ == queue && head_end() + kRefBytes + kBatchAlignment <= head_.allocated) {
    extend_run(open_, run_start_, ref);
    return;
  }
  const Record record = GoneRecord{why, queue, {ref}};
  begin_record(encoded_size(record));
  run_start_ = open_.size();
  run_type_ = RecordType::gone;
  run_detail_ = detail;
  run_queue_ = queue;
  append_record(open_, record);
}

void Journal::append_remembered(Ending ending, std::uint32_t queue, std::int64_t settled_ms,
                                std::int64_t until_ms, Ref ref) {
  const auto detail = static_cast<std::uint8_t>(ending);
  // One turn settles at one time, so `until` tells runs of different turns and settings apart.
  if (run_start_ != 0 && run_type_ == RecordType::remembered && run_detail_ == detail &&
      run_queue_ == queue && run_until_ms_ == until_ms &&
      head_end() + kRefBytes + kBatchAlignment <= head_.allocated) {
    extend_run(open_, run_start_, ref);
    return;
  }
  const Record record = RememberedRecord{ending, queue, settled_ms, until_ms, {ref}};
  begin_record(encoded_size(record));
  run_start_ = open_.size();
  run_type_ = RecordType::remembered;
  run_detail_ = detail;
  run_queue_ = queue;
  run_until_ms_ = until_ms;
  append_record(open_, record);
}

// Forgets what has reached its file: from there on it is read back.
void Journal::forget_written() {
  const std::uint64_t written = committer_->written();
  while (!in_flight_.empty() && in_flight_.front()->number <= written) in_flight_.pop_front();
}

std::vector<std::shared_ptr<const SealedBatch>> Journal::take(std::int64_t realtime_ms) {
  last_realtime_ms_ = realtime_ms;
  seal_open_batch(realtime_ms);
  untaken_bytes_ = 0;
  forget_written();
  return std::exchange(sealed_, {});
}

// -- reading

// The bytes from a position on, where they have not reached the file yet; else nothing.
std::string_view Journal::unwritten(std::uint64_t segment, Position position) {
  if (segment == head_.number && position.offset() >= head_.used) {
    return std::string_view(open_).substr(position.offset() - head_.used);
  }
  forget_written();
  for (const auto& batch : in_flight_) {
    if (batch->segment == segment && position.offset() >= batch->offset &&
        position.offset() < batch->offset + batch->bytes.size()) {
      return std::string_view(batch->bytes).substr(position.offset() - batch->offset);
    }
  }
  return {};
}

// Up to where a segment is written for good, as far as is known here; the committer may be writing
// behind it.
std::uint64_t Journal::written_end(std::uint64_t segment) const noexcept {
  if (!in_flight_.empty() && in_flight_.front()->segment == segment) {
    return in_flight_.front()->offset;
  }
  return segment == head_.number ? head_.used : UINT64_MAX;
}

bool Journal::is_only_on_disk(const RecordPlace& place) const noexcept {
  const auto at = std::pair(place.segment, place.position.offset());
  if (at >= std::pair(head_.number, head_.used)) return false;  // in the open batch
  if (!in_flight_.empty() &&
      at >= std::pair(in_flight_.front()->segment, in_flight_.front()->offset)) {
    return false;
  }
  std::uint64_t behind = head_.used;
  if (place.segment != head_.number) {
    if (closed_.empty() || closed_.back().number != place.segment) return true;
    behind += closed_.back().used;
  }
  return behind - place.position.offset() > committer_->recent_bytes();
}

Result<PutRecord> Journal::read(std::uint64_t segment, Position position) {
  const std::string_view bytes = unwritten(segment, position);
  if (bytes.empty())
    return read_put(*files_, segment, position, read_buffer_, written_end(segment));
  auto put = decode_put(bytes);
  if (!put) return Unexpected(ErrorCode::damaged, "no message where one should be");
  return *put;
}

std::uint64_t Journal::payload_bytes(std::uint64_t segment, Position position) {
  std::string_view bytes = unwritten(segment, position);
  if (bytes.empty()) {
    const auto file = files_->get(segment);
    read_buffer_.resize(kPutFixedBytes);
    if (!file || !file->read_at(position.offset(), read_buffer_)) return position.size();
    bytes = read_buffer_;
  }
  return put_payload_bytes(bytes).value_or(position.size());
}

// -- the ends

bool Journal::oldest_is_written() const noexcept {
  if (closed_.empty()) return false;
  const std::uint64_t next_first = closed_.size() > 1 ? closed_[1].first_batch : head_.first_batch;
  return head_.number != 0 && next_first - 1 <= committer_->written();
}

void Journal::drop_oldest() {
  TARRY_ASSERT(!closed_.empty());
  closed_bytes_ -= closed_.front().used;
  closed_.pop_front();
  largest_segment_ = std::max(config_.segment_bytes, head_.used);
  for (const SegmentInfo& segment : closed_) {
    largest_segment_ = std::max(largest_segment_, segment.used);
  }
}

bool Journal::keep_file(const SegmentInfo& dropped, std::uint64_t enough, std::uint64_t largest) {
  std::uint64_t in_hand = room(largest);
  for (const SegmentInfo& kept : kept_) in_hand += room_in(kept.allocated, largest);
  // Where segments are taken as they are needed, no more than a step is in hand besides. A segment
  // that holds little but what each must hold is room in pieces too small for much.
  const std::uint64_t step = std::min(kStep, config_.segment_bytes / 4);
  if (in_hand >= enough + step || room_in(dropped.allocated, largest) < dropped.allocated / 2)
    return false;
  // Nor one of a time when segments were longer.
  if (dropped.allocated > std::max(config_.segment_bytes, overhead() + 2 * largest + kSlack))
    return false;
  kept_.push_back(dropped);
  return true;
}

Result<void> Journal::reuse_file(std::uint64_t enough, std::uint64_t largest) {
  TARRY_ASSERT(!kept_.empty());
  const SegmentInfo old = kept_.front();
  kept_.pop_front();
  const std::string name = segment_name(old.number);
  const std::shared_ptr<storage::File> file = files_->get(old.number);
  files_->remove(old.number);
  const auto or_remove = [&](Error error) -> Result<void> {
    if (is_shortage(error)) return directory_->remove(name);
    return error;
  };
  // The room is there, but in a copy of the store that has holes.
  if (auto whole = file->allocate(old.allocated); !whole) {
    return or_remove(std::move(whole).error());
  }
  // A segment that was only begun gives way to a longer one: pieces make more segments than needed.
  const bool replaces = !prepared_.empty() && prepared_.back().info.allocated < old.allocated &&
                        room(largest) + room_in(old.allocated, largest) >=
                            enough + room_in(prepared_.back().info.allocated, largest);
  const std::uint64_t number = next_segment_ - (replaces ? 1 : 0);
  // A name too may take room.
  if (auto done = directory_->rename(name, segment_name(number)); !done) {
    return or_remove(std::move(done).error());
  }
  if (replaces) {
    prepared_.pop_back();
    files_->remove(number);
  }
  next_segment_ = number;
  // A backup may have it under a second name. Asked now that the old name has gone: after this
  // nobody can give it one that matters.
  const auto shared = file->is_shared();
  if (!shared) return shared.error();
  if (*shared) return directory_->remove(segment_name(number));
  // Opened anew, so that what goes wrong with it is said under its new name.
  auto again = directory_->open(segment_name(number), storage::OpenMode::read_write);
  if (!again && !is_shortage(again.error())) return std::move(again).error();
  return add_prepared(again ? std::move(*again) : file, old.allocated);
}

std::uint64_t Journal::disk_bytes() const noexcept {
  std::uint64_t sum = head_.allocated;
  for (const SegmentInfo& kept : kept_) sum += kept.allocated;
  for (const SegmentInfo& segment : closed_) sum += std::max(segment.allocated, segment.used);
  for (const Prepared& prepared : prepared_) sum += prepared.info.allocated;
  return sum;
}

Result<void> Journal::trim() {
  TARRY_ASSERT(open_.empty() && sealed_.empty());
  while (!prepared_.empty()) {
    const std::uint64_t number = prepared_.back().info.number;
    prepared_.pop_back();
    files_->remove(number);
    if (auto removed = directory_->remove(segment_name(number)); !removed) return removed;
  }
  while (!kept_.empty()) {
    const std::uint64_t number = kept_.front().number;
    kept_.pop_front();
    files_->remove(number);
    if (auto removed = directory_->remove(segment_name(number)); !removed) return removed;
  }
  if (head_.number != 0) {
    if (auto cut = head_file_->truncate(head_.used); !cut) return cut;
    if (auto synced = head_file_->sync_data(); !synced) return synced;
  }
  return directory_->sync();
}

}  // namespace tarry::embedded
