#include "engines/embedded/journal/journal.h"

#include <algorithm>

#include "base/assert.h"
#include "base/planted.h"

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kBatchTarget = 8ull << 20;  // a batch is closed when it gets this long

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
      reserve_(directory, files, config_.segment_bytes, tail.next_segment),
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

// -- appending

void Journal::append_opening() {
  open_.begin();
  last_opening_bytes_ = open_.append_opening(opening_);
}

// Opens this run in a segment that an earlier run has begun.
void Journal::open_run() {
  const std::uint64_t needed = kBatchHeaderBytes + last_opening_bytes_ + kBatchAlignment;
  if (head_end() + needed > head_.allocated) return roll();
  resumed_ = false;
  append_opening();
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
  header.body_bytes = open_.body_bytes();
  batch->bytes = open_.seal(header);
  head_.used += batch->bytes.size();
  unwritten_.add(std::move(batch));
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
  SegmentReserve::Prepared next = reserve_.take();
  head_ = next.info;
  head_file_ = std::move(next.file);
  head_.salt = salt_of({config_.store_id, config_.shard, head_.number}, config_.hash_seed);
  head_.first_batch = next_batch_;
  SegmentHeader header;
  header.version = config_.version;
  header.shard = config_.shard;
  header.store_id = config_.store_id;
  header.segment = head_.number;
  header.salt = head_.salt;
  header.first_batch = next_batch_;
  header.seal = seal;
  segment_header_ = encode(header);
  head_.used = kSegmentHeaderBytes;
  append_opening();
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
  if (open_.empty()) open_.begin();
  TARRY_ASSERT(head_end() + size <= head_.allocated);
}

RecordPlace Journal::append(const PutRecord& record) {
  if (record.pushed_ms && config_.version < kPushTimeVersion) {
    PutRecord older = record;
    older.pushed_ms.reset();
    return append(older);
  }
  const std::size_t size = encoded_size(record);
  begin_record(size);
  largest_put_ = std::max<std::uint64_t>(largest_put_, size);
  const RecordPlace place{head_.number, Position(head_.number, head_end(), size)};
  open_.append(record);
  return place;
}

void Journal::append(const Record& record) {
  begin_record(encoded_size(record));
  open_.append(record);
}

void Journal::append(const QueueRecord& record, bool is_new) {
  const Record as_any(record);
  append(as_any);
  if (is_new) last_opening_bytes_ += encoded_size(as_any) + kCountersBytes;
}

// False if the batch does not end with a run of that key, or the head has no room for it to grow.
bool Journal::extend_run(const OpenBatch::RunKey& key, Ref ref) {
  if (!open_.ends_with_run(key)) return false;
  if (head_end() + kRefBytes + kBatchAlignment > head_.allocated) return false;
  open_.extend_run(ref);
  return true;
}

void Journal::begin_run(const OpenBatch::RunKey& key, const Record& record) {
  begin_record(encoded_size(record));
  open_.begin_run(key, record);
}

void Journal::append_gone(GoneWhy why, std::uint32_t queue, Ref ref) {
  const OpenBatch::RunKey key{RecordType::gone, static_cast<std::uint8_t>(why), queue};
  if (!extend_run(key, ref)) begin_run(key, GoneRecord{why, queue, {ref}});
}

void Journal::append_remembered(const RememberedRecord& record, Ref ref) {
  // All messages that a turn of the shard settles have the same `settled_ms`. So runs of different
  // turns or settings differ in `until`.
  const OpenBatch::RunKey key{RecordType::remembered, static_cast<std::uint8_t>(record.ending),
                              record.queue, record.until_ms, record.noted};
  if (extend_run(key, ref)) return;
  RememberedRecord run = record;
  run.items = {ref};
  begin_run(key, run);
}

std::vector<std::shared_ptr<const SealedBatch>> Journal::take(std::int64_t realtime_ms) {
  last_realtime_ms_ = realtime_ms;
  seal_open_batch(realtime_ms);
  forget_written();
  return unwritten_.take();
}

// -- reading

// The bytes from a place on, if they have not reached the file yet; otherwise empty.
std::string_view Journal::unwritten(const RecordPlace& place) {
  const auto [segment, position] = place;
  if (segment == head_.number && position.offset() >= head_.used) {
    return open_.from(position.offset() - head_.used);
  }
  forget_written();
  return unwritten_.from(place);
}

// The end of the bytes of a segment that are certainly written. The committer may be writing after
// it.
std::uint64_t Journal::written_end(std::uint64_t segment) const noexcept {
  const SealedBatch* oldest = unwritten_.oldest();
  if (oldest != nullptr && oldest->segment == segment) return oldest->offset;
  return segment == head_.number ? head_.used : UINT64_MAX;
}

bool Journal::is_only_on_disk(const RecordPlace& place) const noexcept {
  const auto at = std::pair(place.segment, place.position.offset());
  if (at >= std::pair(head_.number, head_.used)) return false;  // in the open batch
  const SealedBatch* oldest = unwritten_.oldest();
  if (oldest != nullptr && at >= std::pair(oldest->segment, oldest->offset)) return false;
  std::uint64_t behind = head_.used;
  if (place.segment != head_.number) {
    if (closed_.empty() || closed_.back().number != place.segment) return true;
    behind += closed_.back().used;
  }
  return behind - place.position.offset() > committer_->recent_bytes();
}

Result<PutRecord> Journal::read(const RecordPlace& place) {
  const std::string_view bytes = unwritten(place);
  if (bytes.empty()) {
    return read_put(*files_, place.segment, place.position, read_buffer_,
                    written_end(place.segment));
  }
  auto put = decode_put(bytes);
  if (!put) return Unexpected(ErrorCode::damaged, "no message where one should be");
  return *put;
}

std::uint64_t Journal::payload_bytes(const RecordPlace& place) {
  const Position position = place.position;
  std::string_view bytes = unwritten(place);
  if (bytes.empty()) {
    const auto file = files_->get(place.segment);
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

}  // namespace tarry::embedded
