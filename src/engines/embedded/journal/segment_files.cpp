#include "engines/embedded/journal/segment_files.h"

#include <algorithm>

#include "engines/embedded/journal/journal_format.h"

namespace tarry::embedded {
namespace {

// The first read of a record fetches this many bytes: enough for almost every key with its headers.
constexpr std::size_t kFirstLook = 4096;

auto damaged(std::uint64_t segment, Position position) {
  return Unexpected(ErrorCode::damaged, "no message where one should be: " + segment_name(segment) +
                                            " offset " + std::to_string(position.offset()));
}

}  // namespace

Result<std::unique_ptr<storage::File>> open_segment(storage::Directory& directory,
                                                    std::string_view name, storage::OpenMode mode) {
  auto file = directory.open(name, mode);
  if (file || file.error().code != ErrorCode::invalid_argument) return file;
  return Unexpected(ErrorCode::damaged, "a segment is none: " + file.error().message);
}

Result<PutRecord> read_put(const SegmentFiles& files, std::uint64_t segment, Position position,
                           std::string& buffer, std::uint64_t end) {
  const auto file = files.get(segment);
  if (!file || end < position.offset()) return damaged(segment, position);
  buffer.resize(std::min(position.size(), end - position.offset()));
  auto got = file->read_at(position.offset(), buffer);
  if (!got) return std::move(got).error();
  const std::string_view bytes = std::string_view(buffer).substr(0, *got);
  if (record_length(bytes) > bytes.size()) return damaged(segment, position);
  auto put = decode_put(bytes);
  if (!put) return damaged(segment, position);
  return *put;
}

Result<PutHead> read_put_head(const SegmentFiles& files, std::uint64_t segment, Position position,
                              std::string& buffer) {
  const auto file = files.get(segment);
  if (!file) return damaged(segment, position);
  std::uint64_t wanted = std::min<std::uint64_t>(position.size(), kFirstLook);
  std::string_view bytes;
  std::uint32_t payload = 0;
  std::uint64_t before_payload = 0;
  while (true) {
    buffer.resize(wanted);
    auto got = file->read_at(position.offset(), buffer);
    if (!got) return std::move(got).error();
    bytes = std::string_view(buffer).substr(0, *got);
    // No checksum has proved the length yet, so it is checked against the index.
    const std::size_t length = record_length(bytes);
    payload = put_payload_bytes(bytes).value_or(0);
    if (length > position.size() || payload > length) return damaged(segment, position);
    before_payload = length - payload;
    if (before_payload <= bytes.size()) break;
    if (before_payload <= wanted) return damaged(segment, position);  // the file ends here
    wanted = before_payload;
  }
  auto put = decode_put(bytes);
  if (!put) return damaged(segment, position);
  return PutHead{*put, segment, position.offset() + before_payload, payload};
}

Result<std::string> read_payload(const SegmentFiles& files, const PutHead& head) {
  PutRecord record = head.record;
  std::string payload;
  if (record.payload.size() == head.payload_bytes) {
    payload = record.payload;
  } else {
    const auto file = files.get(head.segment);
    payload.resize(head.payload_bytes);
    auto got = file ? file->read_at(head.payload_at, payload) : Result<std::size_t>(0);
    if (!got) return std::move(got).error();
    payload.resize(*got);
    record.payload = payload;
  }
  if (!payload_checks(record)) {
    return Unexpected(ErrorCode::damaged, "the payload of message " +
                                              std::to_string(record.ref.id) + " does not check");
  }
  return payload;
}

}  // namespace tarry::embedded
