// A delay queue on RocksDB, the way a careful user of it would write one: as few writes a message
// as a lease for each allows. Each verb is one WriteBatch, so that callers on several threads share
// syncs by RocksDB's own group commit.
//
//   d DUE ID       -> payload          from push to settle
//   l DEADLINE ID  -> DUE              from claim to settle: whom to give it back to
//
// What is claimed is known in RAM by where the next claim begins to read; after a restart the
// leases would say it. Tuned for it: deletions are SingleDeletes, since no key is written twice; a
// batch writes neighbouring keys one after the other, so that the memtable finds its place by the
// last one; counting is off.
#pragma once

#include <memory>
#include <string>

#include "designs/design.h"

namespace tarry::bench {

[[nodiscard]] std::unique_ptr<Design> make_rocksdb_queue(const std::string& path, Sync sync);

}  // namespace tarry::bench
