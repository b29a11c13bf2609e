// A delay queue on LMDB, with the same entries as rocksdb_queue.h: messages by (due time, id),
// leases by (deadline, id). Each verb is one transaction, with its keys in order. Without sync it
// writes through the memory map (MDB_WRITEMAP, MDB_NOSYNC), its fastest way.
#pragma once

#include <memory>
#include <string>

#include "designs/design.h"

namespace tarry::bench {

[[nodiscard]] std::unique_ptr<Design> make_lmdb_queue(const std::string& path, Sync sync);

}  // namespace tarry::bench
