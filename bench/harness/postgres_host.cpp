#include "harness/postgres_host.h"

#include <pwd.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {
namespace {

namespace fs = std::filesystem;

// The directory of the newest version's programs on Debian; empty if there is none.
std::string programs() {
  std::string newest;
  std::error_code none;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", none)) {
    const std::string path = version.path().string() + "/bin";
    if (::access((path + "/initdb").c_str(), X_OK) == 0 && path > newest) newest = path;
  }
  return newest;
}

}  // namespace

bool PostgresHost::is_installed() { return !programs().empty(); }

PostgresHost::PostgresHost() : scratch_(fs::temp_directory_path().string()) {
  const std::string& directory = scratch_.path();
  const std::string data = directory + "/data";
  if (const passwd* const user = ::getpwnam("postgres"); ::getuid() == 0 && user != nullptr) {
    must(::chown(directory.c_str(), user->pw_uid, user->pw_gid) == 0,
         "postgres owns its directory");
  }
  const ServerProcess::Options options{
      .log = directory + "/log", .user = "postgres", .stop_signal = SIGQUIT};
  must(ServerProcess::run({programs() + "/initdb", "-D", data, "-U", "postgres", "-A", "trust",
                           "--no-sync", "-E", "UTF8", "--locale=C"},
                          options),
       "initdb makes a cluster in " + directory);
  server_ = std::make_unique<ServerProcess>(
      std::vector<std::string>{programs() + "/postgres", "-D", data, "-k", directory, "-c",
                               "listen_addresses="},
      options);
  const Stopwatch watch;
  while (!ServerProcess::run({programs() + "/pg_isready", "-q", "-h", directory}, options)) {
    must(watch.seconds() < 60, "PostgreSQL starts");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

double PostgresHost::disk_bytes() const {
  double bytes = 0;
  std::error_code gone;
  for (const auto& file : fs::recursive_directory_iterator(scratch_.path() + "/data/base", gone)) {
    const auto size = file.is_regular_file(gone) ? file.file_size(gone) : 0;
    if (!gone) bytes += static_cast<double>(size);
  }
  return bytes;
}

}  // namespace tarry::bench
