#include "app/session.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "app/progress.h"

namespace tarry::app {

std::string Session::url() const {
  if (!store.empty()) return store;
  const char* given = std::getenv("TARRY_STORE");
  return given != nullptr && *given != '\0' ? given : std::string(kDefaultStore);
}

std::optional<Store> Session::open(ExitCode& code) { return open(url(), {}, code); }

std::optional<Store> Session::open(const std::string& url, std::optional<ManualClock> clock,
                                   ExitCode& code) {
  Progress progress("recovering", stderr, output.err());
  OpenOptions options;
  options.clock = std::move(clock);
  options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
    constexpr std::uint64_t kMiB = 1u << 20;
    progress.show(done, total, done / kMiB, "MiB");
  };
  auto store = tarry::open(url, std::move(options));
  progress.clear();
  if (store) return std::move(*store);
  output.error(store.error());
  if (store.error().code == ErrorCode::unavailable && this->store.empty() && url == kDefaultStore) {
    output.note(
        "Start a server with `tarry serve --store file:DIRECTORY`, or name a store: --store URL.");
  }
  code = exit_code_of_open(store.error().code);
  return std::nullopt;
}

}  // namespace tarry::app
