#include "engines/embedded/store/store_files.h"

#include <algorithm>
#include <random>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "engines/embedded/journal/begun_mark.h"
#include "engines/embedded/journal/journal_format.h"

namespace tarry::embedded {
namespace {

constexpr std::string_view kMagic = "TARRYSTO";
constexpr std::string_view kName = "STORE";
constexpr std::string_view kTemporary = "STORE.new";
constexpr std::string_view kShardPrefix = "shard-";
// magic 8, crc 4, version 4, shards 4, zero 4, store id 8, hash seed 8
constexpr std::size_t kBytes = 40;
constexpr std::size_t kMostBytes = 4096;  // for any version: its checksum covers the whole file
constexpr std::uint64_t kDefaultSegmentBytes = 64ull << 20;
constexpr std::uint64_t kLeastDefaultSegmentBytes = 256ull << 10;
constexpr std::uint64_t kSegmentsOnDisk = 16;
constexpr std::uint64_t kPage = 4096;

std::string encode(const StoreIdentity& identity) {
  std::string out;
  base::ByteWriter to(out);
  to.bytes(kMagic);
  to.u32(0);
  to.u32(identity.version);
  to.u32(identity.shards);
  to.u32(0);
  to.u64(identity.store_id);
  to.u64(identity.hash_seed);
  base::store_u32(out.data() + 8, base::crc32c(std::string_view(out).substr(12)));
  return out;
}

Result<StoreIdentity> decode(std::string_view bytes, const std::string& path) {
  if (bytes.size() >= 16 && bytes.substr(0, 8) == kMagic) {
    const std::uint32_t version = base::load_u32(bytes.data() + 12);
    const bool checks = base::load_u32(bytes.data() + 8) == base::crc32c(bytes.substr(12));
    if (checks && (version == 0 || version > kFormatVersion)) {
      return Unexpected(ErrorCode::unsupported,
                        path + " is a store of format version " + std::to_string(version) +
                            "; this program knows versions 1 to " + std::to_string(kFormatVersion));
    }
    if (checks && bytes.size() == kBytes) {
      StoreIdentity identity;
      identity.version = version;
      identity.shards = base::load_u32(bytes.data() + 16);
      identity.store_id = base::load_u64(bytes.data() + 24);
      identity.hash_seed = base::load_u64(bytes.data() + 32);
      if (identity.shards >= 1 && identity.shards <= kMostShards) return identity;
    }
  }
  return Unexpected(ErrorCode::damaged, path + "/" + std::string(kName) + " does not check");
}

Result<std::string> read_store_file(storage::Directory& directory) {
  auto file = directory.open(kName, storage::OpenMode::read_only);
  if (!file && file.error().code == ErrorCode::invalid_argument) {
    return Unexpected(ErrorCode::damaged, std::string(kName) + " is none: " + file.error().message);
  }
  if (!file) return std::move(file).error();
  std::string bytes(kMostBytes, '\0');
  auto got = (*file)->read_at(0, bytes);
  if (!got) return std::move(got).error();
  bytes.resize(*got);
  return bytes;
}

// The path of a shard that holds segments, if one does.
Result<std::optional<std::string>> shard_with_journal(storage::Directory& directory,
                                                      const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (!name.starts_with(kShardPrefix)) continue;
    auto shard = directory.subdirectory(name, false);
    if (!shard) return std::move(shard).error();
    auto files = (*shard)->list();
    if (!files) return std::move(files).error();
    const bool holds = std::any_of(files->begin(), files->end(), [](const std::string& file) {
      return segment_number(file) != 0;
    });
    if (holds || begun_in(*files) != 0) return std::optional((*shard)->path());
  }
  return std::optional<std::string>();
}

// Segments are made only after STORE: if there are segments without it, it has been lost.
Result<std::optional<StoreIdentity>> nothing_made_yet(storage::Directory& directory,
                                                      const std::vector<std::string>& names) {
  auto shard = shard_with_journal(directory, names);
  if (!shard) return std::move(shard).error();
  if (!*shard) return std::optional<StoreIdentity>();
  return Unexpected(ErrorCode::damaged, directory.path() + "/" + std::string(kName) +
                                            " is missing, but " + **shard + " holds a journal");
}

bool has_name(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

Result<void> write_store_file(storage::Directory& directory, const StoreIdentity& identity) {
  auto names = directory.list();
  if (!names) return std::move(names).error();
  if (has_name(*names, kTemporary)) {
    if (auto removed = directory.remove(kTemporary); !removed) return removed;
  }
  auto file = directory.open(kTemporary, storage::OpenMode::create_new);
  if (!file) return std::move(file).error();
  if (auto done = (*file)->write_at(0, encode(identity)); !done) return done;
  if (auto done = (*file)->sync_data(); !done) return done;
  if (auto done = directory.rename(kTemporary, kName); !done) return done;
  return directory.sync();
}

// The tool that began to make the directory, and did not finish.
std::optional<std::string> half_made_by(const std::vector<std::string>& names) {
  if (has_name(names, kName)) return std::nullopt;
  if (has_name(names, kSalvageName)) return "salvage";
  if (has_name(names, kBackupName)) return "backup";
  return std::nullopt;
}

}  // namespace

Result<bool> is_half_made(storage::Directory& directory) {
  auto names = directory.list();
  if (!names) return std::move(names).error();
  return half_made_by(*names).has_value();
}

Result<bool> has_store_file(const storage::Directory& directory) {
  auto names = directory.list();
  if (!names) return std::move(names).error();
  return has_name(*names, kName);
}

Result<void> finish_making(storage::Directory& directory) {
  auto names = directory.list();
  if (!names) return std::move(names).error();
  for (const char* mark : {kSalvageName, kBackupName}) {
    if (has_name(*names, mark)) static_cast<void>(directory.remove(mark));
  }
  auto shard = shard_with_journal(directory, *names);
  if (!shard) return std::move(shard).error();
  return *shard ? Result<void>() : directory.sync();
}

std::string shard_directory_name(std::uint32_t shard) {
  std::string digits = std::to_string(shard);
  digits.insert(0, digits.size() < 3 ? 3 - digits.size() : 0, '0');
  return std::string(kShardPrefix) + digits;
}

std::uint64_t fitting_segment_bytes(const storage::Directory& directory, std::uint64_t wanted) {
  return std::min(wanted, std::max(directory.largest_file() / kPage * kPage, kPage));
}

std::uint64_t default_segment_bytes(const storage::Directory& directory, std::uint32_t shards) {
  const auto space = directory.space();
  if (!space) return kDefaultSegmentBytes;
  const std::uint64_t share = space->total_bytes / kSegmentsOnDisk / shards;
  return std::clamp(share, kLeastDefaultSegmentBytes, kDefaultSegmentBytes);
}

std::uint64_t random_number() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

Error shard_directory_error(Error error) {
  if (error.code == ErrorCode::invalid_argument) {
    return {ErrorCode::damaged, "a shard's directory is none: " + error.message};
  }
  if (error.code != ErrorCode::not_found) return error;
  return {ErrorCode::damaged, "a shard's directory is missing: " + error.message};
}

Result<std::optional<StoreIdentity>> read_identity(storage::Directory& directory) {
  auto names = directory.list();
  if (!names) return std::move(names).error();
  if (const auto by = half_made_by(*names)) {
    const std::string mark = *by == "salvage" ? kSalvageName : kBackupName;
    return Unexpected(ErrorCode::invalid_argument,
                      directory.path() + " is what a " + *by +
                          " that did not end has left, and no store: if this was never a whole "
                          "store, remove it and begin the " +
                          *by + " again; if it was one, and has lost its " + std::string(kName) +
                          ", remove its file " + mark + " and salvage it");
  }
  if (!has_name(*names, kName)) {
    const bool ours = std::all_of(names->begin(), names->end(), [](const std::string& name) {
      return name == kLockName || name == kTemporary || name.starts_with(kShardPrefix) ||
             name == "lost+found";
    });
    if (ours) return nothing_made_yet(directory, *names);
    return Unexpected(ErrorCode::invalid_argument,
                      directory.path() + " is not a tarry store: it is not empty and has no file " +
                          std::string(kName));
  }
  auto bytes = read_store_file(directory);
  if (!bytes) return std::move(bytes).error();
  auto identity = decode(*bytes, directory.path());
  if (!identity) return std::move(identity).error();
  return std::optional<StoreIdentity>(*identity);
}

std::optional<StoreIdentity> repair_identity(storage::Directory& directory) {
  auto bytes = read_store_file(directory);
  if (!bytes || bytes->size() != kBytes) return std::nullopt;
  for (char& byte : *bytes) {
    const char before = byte;
    for (int flip = 1; flip < 256; ++flip) {
      byte = static_cast<char>(before ^ flip);
      if (const auto identity = decode(*bytes, {})) return *identity;
    }
    byte = before;
  }
  return std::nullopt;
}

Result<void> write_identity(storage::Directory& directory, const StoreIdentity& identity) {
  for (std::uint32_t shard = 0; shard < identity.shards; ++shard) {
    auto made = directory.subdirectory(shard_directory_name(shard), true);
    if (!made) return std::move(made).error();
  }
  if (auto synced = directory.sync(); !synced) return synced;
  return write_store_file(directory, identity);
}

Result<void> raise_version(storage::Directory& directory, StoreIdentity identity,
                           std::uint32_t version) {
  identity.version = version;
  return write_store_file(directory, identity);
}

}  // namespace tarry::embedded
