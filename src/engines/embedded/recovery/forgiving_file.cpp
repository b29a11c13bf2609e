#include "engines/embedded/recovery/forgiving_file.h"

#include <algorithm>

namespace tarry::embedded {
namespace {

constexpr std::uint64_t kPiece = 4096;  // about the amount that a disk loses at a time

Unexpected read_only() {
  return Unexpected(ErrorCode::misuse, "a file that is being salvaged is not written");
}

}  // namespace

Result<std::size_t> ForgivingFile::read_at(std::uint64_t offset, std::span<char> into) const {
  auto whole = under_->read_at(offset, into);
  if (whole || whole.error().code != ErrorCode::io_error) return whole;
  std::size_t done = 0;
  while (done < into.size()) {
    const std::uint64_t at = offset + done;
    const auto piece =
        into.subspan(done, std::min<std::uint64_t>(kPiece - at % kPiece, into.size() - done));
    auto got = under_->read_at(at, piece);
    if (!got && got.error().code != ErrorCode::io_error) return got;
    if (!got) {
      auto end = under_->size();
      if (!end) return std::move(end).error();
      const std::uint64_t left = *end > at ? *end - at : 0;
      got = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size()));
      std::fill_n(piece.begin(), *got, '\0');
    }
    done += *got;
    if (*got < piece.size()) break;
  }
  return done;
}

Result<void> ForgivingFile::write_at(std::uint64_t /*offset*/, std::string_view /*bytes*/) {
  return read_only();
}
Result<void> ForgivingFile::write_at(std::uint64_t /*offset*/,
                                     std::span<const std::string_view> /*pieces*/) {
  return read_only();
}
Result<void> ForgivingFile::sync_data() { return read_only(); }
Result<void> ForgivingFile::allocate(std::uint64_t /*size*/) { return read_only(); }
Result<void> ForgivingFile::truncate(std::uint64_t /*size*/) { return read_only(); }

}  // namespace tarry::embedded
