// PostgresHost: the run's own PostgreSQL server, in its own directory, on a unix socket there. If
// we are root, the user postgres runs it, because PostgreSQL refuses to run as root.
//
// Thread safety: none. It ends with the thread that made it.
#pragma once

#include <memory>
#include <string>

#include "harness/scratch.h"
#include "harness/server_process.h"

namespace tarry::bench {

class PostgresHost {
 public:
  [[nodiscard]] static bool is_installed();

  PostgresHost();

  /// The host in libpq's terms; user and database are postgres.
  [[nodiscard]] const std::string& socket_directory() const noexcept { return scratch_.path(); }

  /// Bytes of its tables and indexes, including the system's own, without the log.
  [[nodiscard]] double disk_bytes() const;

 private:
  Scratch scratch_;
  std::unique_ptr<ServerProcess> server_;
};

}  // namespace tarry::bench
