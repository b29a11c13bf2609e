// Finds out for salvage which store this is: from its STORE, or, if STORE is damaged or missing,
// from other evidence.
//
// Functions without state.
#pragma once

#include <cstdint>
#include <string>

#include <tarry/result.h>

#include "engines/embedded/store/store_files.h"
#include "storage/storage.h"

namespace tarry::embedded {

struct SalvagedIdentity {
  StoreIdentity identity;
  std::string store_file;  // what was done about a damaged STORE; empty: STORE was good
};

/// Corrects one wrong byte of STORE, because the checksum proves which byte it is. Otherwise
/// identifies a store of one shard by its segments. That is impossible for a store of several
/// shards, because the hash seed, which leads a key to its shard, stands only in STORE. Errors:
/// those of `read_identity`; `not_found` if the directory is empty.
[[nodiscard]] Result<SalvagedIdentity> salvage_identity(storage::Directory& directory,
                                                        std::uint64_t (*random)());

}  // namespace tarry::embedded
