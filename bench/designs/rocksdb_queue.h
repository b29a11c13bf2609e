// A delay queue on RocksDB, as a careful user would write it: with as few writes per message as
// leases allow. Each verb is one WriteBatch, so that callers on several threads share syncs by
// RocksDB's own group commit.
//
//   d DUE ID -> payload from push to settle l DEADLINE ID -> DUE from claim to settle, to restore
//   the message after its lease
//
// Claimed messages are known in RAM, and so is the place where the next claim begins to read; after
// a restart the leases would show them. RocksDB is tuned: deletions are SingleDeletes, because no
// key is written twice; a batch writes neighbouring keys one after the other, so that the memtable
// finds each place by the last one; statistics are off.
#pragma once

#include <memory>
#include <string>

#include "designs/design.h"

namespace tarry::bench {

[[nodiscard]] std::unique_ptr<Design> make_rocksdb_queue(const std::string& path, Sync sync);

}  // namespace tarry::bench
