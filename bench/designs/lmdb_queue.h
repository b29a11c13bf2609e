// A delay queue on LMDB, as rocksdb_queue.h describes one: messages by id, what waits by (due time,
// id), what is claimed by (deadline, id); a transaction a verb. Without sync it writes through the
// memory map (MDB_WRITEMAP, MDB_NOSYNC), its fastest way; ids only rise, so messages are appended.
#pragma once

#include <memory>
#include <string>

#include "designs/design.h"

namespace tarry::bench {

[[nodiscard]] std::unique_ptr<Design> make_lmdb_queue(const std::string& path, Sync sync);

}  // namespace tarry::bench
