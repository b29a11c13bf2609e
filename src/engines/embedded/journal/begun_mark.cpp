#include "engines/embedded/journal/begun_mark.h"

#include <algorithm>

#include "engines/embedded/journal/commit.h"
#include "engines/embedded/journal/journal_format.h"

namespace tarry::embedded {
namespace {

constexpr std::string_view kPrefix = "begun-";
constexpr std::string_view kSegmentSuffix = ".seg";

// The number in a mark's file name; 0 if the name is not a mark's.
std::uint64_t begun_number(std::string_view name) {
  if (!name.starts_with(kPrefix)) return 0;
  return segment_number(std::string(name.substr(kPrefix.size())).append(kSegmentSuffix));
}

}  // namespace

std::string begun_name(std::uint64_t segment) {
  std::string number = segment_name(segment);
  number.resize(number.size() - kSegmentSuffix.size());
  return std::string(kPrefix) + number;
}

std::uint64_t begun_in(const std::vector<std::string>& names) {
  std::uint64_t highest = 0;
  for (const std::string& name : names) highest = std::max(highest, begun_number(name));
  return highest;
}

Result<std::uint64_t> raise_begun(storage::Directory& directory, std::uint64_t from,
                                  std::uint64_t to) {
  if (to <= from) return from;
  Result<void> done;
  if (from == 0) {
    auto made = directory.open(begun_name(to), storage::OpenMode::create_new);
    if (!made) done = std::move(made).error();
  } else {
    done = directory.rename(begun_name(from), begun_name(to));
  }
  if (done) return to;
  if (is_shortage(done.error())) return from;
  return std::move(done).error();
}

}  // namespace tarry::embedded
