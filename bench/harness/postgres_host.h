// PostgresHost: a PostgreSQL server of the run's own, in a directory of its own, on a unix socket
// there. Run by the user postgres where we are root, since PostgreSQL refuses to be root.
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

  /// What libpq calls the host; user and database are postgres.
  [[nodiscard]] const std::string& socket_directory() const noexcept { return scratch_.path(); }

  /// Bytes of its tables and their indexes, the system's own included, without the log.
  [[nodiscard]] double disk_bytes() const;

 private:
  Scratch scratch_;
  std::unique_ptr<ServerProcess> server_;
};

}  // namespace tarry::bench
