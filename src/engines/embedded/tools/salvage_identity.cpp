#include "engines/embedded/tools/salvage_identity.h"

#include <algorithm>
#include <optional>

#include "engines/embedded/journal/journal_format.h"

namespace tarry::embedded {
namespace {

struct Witness {
  std::uint32_t shards = 0;               // directories, up to the last one's number
  std::optional<std::uint64_t> store_id;  // as the segments' headers have it
};

std::optional<std::uint64_t> store_id_in(storage::Directory& directory, std::uint32_t shard) {
  const auto names = directory.list();
  if (!names) return std::nullopt;
  for (const std::string& name : *names) {
    if (segment_number(name) == 0) continue;
    const auto file = directory.open(name, storage::OpenMode::read_only);
    std::string bytes(kSegmentHeaderBytes, '\0');
    const auto got = file ? (*file)->read_at(0, bytes) : Result<std::size_t>(0);
    if (!got || *got != bytes.size()) continue;
    const DecodedHeader decoded = decode_segment_header(bytes);
    if (decoded.state == HeaderState::valid && decoded.header.shard == shard) {
      return decoded.header.store_id;
    }
  }
  return std::nullopt;
}

Witness ask_segments(storage::Directory& directory) {
  Witness witness;
  for (std::uint32_t shard = 0; shard < kMostShards; ++shard) {
    const auto opened = directory.subdirectory(shard_directory_name(shard), false);
    if (!opened) continue;
    witness.shards = shard + 1;
    if (!witness.store_id) witness.store_id = store_id_in(**opened, shard);
  }
  return witness;
}

}  // namespace

Result<SalvagedIdentity> salvage_identity(storage::Directory& directory,
                                          std::uint64_t (*random)()) {
  auto identity = read_identity(directory);
  if (identity) {
    if (*identity) return SalvagedIdentity{**identity, {}};
    return Unexpected(ErrorCode::not_found, "there is no store at " + directory.path());
  }
  const ErrorCode code = identity.error().code;
  if (code != ErrorCode::damaged && code != ErrorCode::invalid_argument &&
      code != ErrorCode::io_error) {
    return std::move(identity).error();
  }
  // An unfinished salvage or backup may have left some segments of some shards. They identify no
  // store.
  const auto half_made = is_half_made(directory);
  if (half_made && *half_made) return std::move(identity).error();
  const Witness witness = ask_segments(directory);
  if (!witness.store_id) return std::move(identity).error();
  if (const auto repaired = repair_identity(directory);
      repaired && repaired->store_id == *witness.store_id && repaired->shards >= witness.shards) {
    return SalvagedIdentity{*repaired, "one byte was wrong; it could be put right"};
  }
  if (witness.shards == 1) {
    return SalvagedIdentity{{kFormatVersion, 1, *witness.store_id, random()},
                            "could not be read; the store's id was taken from its segments"};
  }
  Error error = std::move(identity).error();
  error.message += "; it alone says by which seed keys find their shard, so a store of " +
                   std::to_string(witness.shards) + " shards cannot be salvaged without it";
  return error;
}

}  // namespace tarry::embedded
