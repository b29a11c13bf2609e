#include "engines/embedded/journal/segment_scanner.h"

#include <algorithm>

namespace tarry::embedded {
namespace {
constexpr std::uint64_t kReadAhead = 1ull << 20;
}

SegmentScanner::SegmentScanner(const storage::File& file, std::uint64_t salt,
                               std::uint64_t first_batch, std::uint64_t end)
    : file_(&file), salt_(salt), end_(end), next_number_(first_batch) {}

// Answers fewer bytes than asked for only at the end of the file or of the segment.
Result<std::string_view> SegmentScanner::read(std::uint64_t offset, std::uint64_t size) {
  if (offset >= end_) return std::string_view();
  size = std::min(size, end_ - offset);
  const bool held = offset >= buffer_offset_ && offset + size <= buffer_offset_ + buffer_.size();
  if (!held) {
    buffer_.resize(std::min(std::max(size, kReadAhead), end_ - offset));
    auto got = file_->read_at(offset, buffer_);
    if (!got) return std::move(got).error();
    buffer_.resize(*got);
    buffer_offset_ = offset;
  }
  return std::string_view(buffer_).substr(offset - buffer_offset_, size);
}

Result<bool> SegmentScanner::load_batch(std::uint64_t offset, BatchHeader& header) {
  auto head = read(offset, kBatchHeaderBytes);
  if (!head) return std::move(head).error();
  const auto peeked = peek_batch_header(*head, salt_);
  if (!peeked) return false;
  const std::uint64_t size = kBatchHeaderBytes + std::uint64_t{peeked->body_bytes};
  if (size > end_ - offset) return false;
  auto whole = read(offset, size);
  if (!whole) return std::move(whole).error();
  if (whole->size() != size || !batch_checks(*whole)) return false;
  header = *peeked;
  body_ = whole->substr(kBatchHeaderBytes);
  return true;
}

Result<SegmentScanner::Step> SegmentScanner::next() {
  offset_ = next_offset_;
  if (offset_ >= end_) return Step::end;
  auto loaded = load_batch(offset_, header_);
  if (!loaded) return std::move(loaded).error();
  if (!*loaded || header_.number != next_number_) return Step::bad;
  ++next_number_;
  next_offset_ = offset_ + padded(kBatchHeaderBytes + std::uint64_t{header_.body_bytes});
  return Step::batch;
}

// True if the next batch seems to begin there, even if one byte of its header is wrong.
bool SegmentScanner::may_be_next(std::string_view head) const {
  const auto guess = guess_batch_header(head);
  return has_salt(head, salt_) || (guess && guess->number == next_number_);
}

Result<std::uint64_t> SegmentScanner::torn_end() {
  std::uint64_t last = next_offset_;
  for (std::uint64_t at = next_offset_; at < end_;) {
    auto head = read(at, kBatchHeaderBytes);
    if (!head) return std::move(head).error();
    if (head->size() < kBatchHeaderBytes) break;
    if (at == next_offset_ && may_be_next(*head)) last = at + kBatchHeaderBytes;
    const auto held = std::string_view(buffer_).substr(at - buffer_offset_);
    const std::size_t next = find_batch_magic(held);
    if (next != 0) {
      at += next != std::string_view::npos ? next : held.size() / kBatchAlignment * kBatchAlignment;
      continue;
    }
    const auto peeked = peek_batch_header(*head, salt_);
    if (peeked) last = at + padded(kBatchHeaderBytes + std::uint64_t{peeked->body_bytes});
    at += kBatchAlignment;
  }
  return std::min(last, end_);
}

// Moves `at` to the first good batch at or after it.
Result<bool> SegmentScanner::find_good(std::uint64_t& at, BatchHeader& header) {
  while (at < end_) {
    auto head = read(at, kBatchHeaderBytes);
    if (!head) return std::move(head).error();
    if (head->size() < kBatchHeaderBytes) break;
    const auto held = std::string_view(buffer_).substr(at - buffer_offset_);
    const std::size_t next = find_batch_magic(held);
    if (next != 0) {
      at += next != std::string_view::npos ? next : held.size() / kBatchAlignment * kBatchAlignment;
      continue;
    }
    auto loaded = load_batch(at, header);
    if (!loaded || *loaded) return loaded;
    at += kBatchAlignment;
  }
  return false;
}

Result<SegmentScanner::Beyond> SegmentScanner::beyond(std::uint64_t enough) {
  Beyond beyond;
  BatchHeader header;
  for (std::uint64_t at = offset_; beyond.durable < enough;) {
    auto found = find_good(at, header);
    if (!found) return std::move(found).error();
    if (!*found) break;
    beyond.durable = std::max(beyond.durable, header.durable);
    if (header.number >= next_number_) ++beyond.batches;
    at += padded(kBatchHeaderBytes + std::uint64_t{header.body_bytes});
  }
  return beyond;
}

Result<bool> SegmentScanner::skip_bad() {
  BatchHeader header;
  for (std::uint64_t at = offset_;;) {
    auto found = find_good(at, header);
    if (!found) return std::move(found).error();
    if (!*found) return false;
    if (header.number >= next_number_) {
      next_offset_ = at;
      next_number_ = header.number;
      return true;
    }
    at += padded(kBatchHeaderBytes + std::uint64_t{header.body_bytes});
  }
}

Result<std::optional<BatchHeader>> first_batch_in(const storage::File& file) {
  auto size = file.size();
  if (!size) return std::move(size).error();
  std::string head(kBatchHeaderBytes, '\0');
  auto got = file.read_at(kSegmentHeaderBytes, head);
  if (!got) return std::move(got).error();
  const auto guess = guess_batch_header(std::string_view(head).substr(0, *got));
  if (!guess) return std::optional<BatchHeader>();
  SegmentScanner scanner(file, guess->salt, guess->number, *size);
  auto step = scanner.next();
  if (!step) return std::move(step).error();
  if (*step != SegmentScanner::Step::batch) return std::optional<BatchHeader>();
  return std::optional(scanner.header());
}

}  // namespace tarry::embedded
