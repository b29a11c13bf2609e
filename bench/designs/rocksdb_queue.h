// A delay queue on RocksDB, the way a careful user of it would write one. Payloads are stored once;
// what is due is found by a range read over (due time, id); a lease is an entry under its deadline,
// so that one which ran out would be found the same way. Each verb is one WriteBatch, so that
// callers on several threads share syncs by RocksDB's own group commit.
//
//   m ID           -> payload
//   d DUE ID       -> nothing           what waits
//   l DEADLINE ID  -> nothing           what is claimed
//
// Tuned for it: deletions are SingleDeletes, since no key is written twice; a claim begins to read
// where the last one ended, unless something earlier was pushed since, and so skips the tombstones
// of what was claimed before; logs are recycled, which makes their syncs cheaper.
#pragma once

#include <memory>
#include <string>

#include "designs/design.h"

namespace tarry::bench {

[[nodiscard]] std::unique_ptr<Design> make_rocksdb_queue(const std::string& path, Sync sync);

}  // namespace tarry::bench
