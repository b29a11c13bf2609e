#include "harness/tarry_host.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {

TarryHost::TarryHost(const std::string& parent, const std::string& options) : scratch_(parent) {
  const std::string port_file = scratch_.path() + "/port";
  server_ = std::make_unique<ServerProcess>(
      std::vector<std::string>{TARRY_PROGRAM, "serve", "--store",
                               "file:" + scratch_.path() + "/store?" + options, "--listen",
                               "127.0.0.1:0", "--port-file", port_file},
      ServerProcess::Options{.log = scratch_.path() + "/output", .stop_signal = SIGTERM});
  const Stopwatch watch;
  // The file is renamed into its place, so it is whole.
  while (!(std::ifstream(port_file) >> port_)) {
    must(watch.seconds() < 20, "tarry serve starts");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace tarry::bench
