#include "harness/tarry_host.h"

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>
#include <vector>

#include "harness/must.h"
#include "harness/wall.h"

namespace tarry::bench {

TarryHost::TarryHost(const std::string& parent, const Options& options) : scratch_(parent) {
  const std::string port_file = scratch_.path() + "/port";
  std::string store = options.store;
  if (store.starts_with("file:")) store.insert(5, scratch_.path() + "/store");
  std::vector<std::string> words{TARRY_PROGRAM, "serve",       "--store",     store,
                                 "--listen",    "127.0.0.1:0", "--port-file", port_file};
  words.insert(words.end(), options.flags.begin(), options.flags.end());
  server_ = std::make_unique<ServerProcess>(
      words, ServerProcess::Options{.log = scratch_.path() + "/output", .stop_signal = SIGTERM});
  const Stopwatch watch;
  // The file is renamed into its place, so it is whole.
  while (true) {
    std::ifstream ports(port_file);
    if (ports >> port_) {
      ports >> front_port_;
      break;
    }
    must(watch.seconds() < 20, "tarry serve starts");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace tarry::bench
