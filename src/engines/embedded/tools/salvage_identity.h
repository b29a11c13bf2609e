// Which store this is, for salvage: by its STORE, or by other evidence if that is damaged or
// missing.
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
  std::string store_file;  // what was done about a STORE that did not check; empty: it did
};

/// One wrong byte is corrected: the checksum proves which. Otherwise a store of one shard is
/// identified by its segments. A store of several shards cannot be: the hash seed, which leads a
/// key to its shard, stands only in STORE. Errors: those of `read_identity`; `not_found` if the
/// directory is empty.
[[nodiscard]] Result<SalvagedIdentity> salvage_identity(storage::Directory& directory,
                                                        std::uint64_t (*random)());

}  // namespace tarry::embedded
