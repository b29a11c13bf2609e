#include "engines/embedded/segment_files.h"

#include "engines/embedded/journal_format.h"

namespace tarry::embedded {

Result<PutRecord> read_put(const SegmentFiles& files, std::uint64_t segment, Position position,
                           std::string& buffer) {
  const auto damaged = [&] {
    return Unexpected(ErrorCode::damaged,
                      "no message where one should be: " + segment_name(segment) + " offset " +
                          std::to_string(position.offset()));
  };
  const auto file = files.get(segment);
  if (!file) return damaged();
  buffer.resize(position.size());
  auto got = file->read_at(position.offset(), buffer);
  if (!got) return std::move(got).error();
  const std::string_view bytes = std::string_view(buffer).substr(0, *got);
  if (record_length(bytes) > bytes.size()) return damaged();
  auto put = decode_put(bytes);
  if (!put) return damaged();
  return *put;
}

}  // namespace tarry::embedded
