// Which store this is, for salvage: by its STORE, or where that is damaged or missing, by what else
// says so.
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
  std::string store_file;  // what became of a STORE that did not check; empty: it did
};

/// One byte that is wrong is put right: the checksum proves which. Else a store of one shard is
/// known by its segments. One of several is not: by its hash seed, which stands only in STORE, keys
/// find their shard. Errors: those of `read_identity`;
/// `not_found` where the directory is empty.
[[nodiscard]] Result<SalvagedIdentity> salvage_identity(storage::Directory& directory,
                                                        std::uint64_t (*random)());

}  // namespace tarry::embedded
