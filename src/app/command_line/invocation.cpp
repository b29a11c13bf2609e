#include "app/command_line/invocation.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <variant>

#include "app/config/variables.h"
#include "app/output/progress.h"
#include "base/text/text.h"
#include "open/urls/store_url.h"

namespace tarry::app {

std::string Invocation::url() const {
  if (!store.empty()) return store;
  const char* given = std::getenv("TARRY_STORE");
  return given != nullptr && *given != '\0' ? given : std::string(kDefaultStore);
}

void Invocation::note_if_fleeting() {
  if (is_fleeting())
    output.note("a memory: store ends with this command, and what was pushed is lost with it");
}

namespace {

// How long a command waits for the commands before it: each has the file store open for a moment
// only.
constexpr std::chrono::milliseconds kLockWait{2'000};
constexpr std::chrono::milliseconds kLockAgain{10};  // between two tries

// The directory, with its parents, that opening the store will create: reported because its name
// may be mistyped. Empty if nothing is created.
std::string new_directory(const std::string& url) {
  const auto parsed = detail::parse_store_url(url);
  const auto* files = parsed ? std::get_if<detail::EmbeddedUrl>(&*parsed) : nullptr;
  if (files == nullptr || files->path.empty()) return {};
  std::error_code ignored;
  return std::filesystem::exists(files->path, ignored) ? std::string() : files->path;
}

/// Holds the store's messages while the store is opened, until the progress line has been removed.
/// Any thread.
class HeldLog {
 public:
  explicit HeldLog(Log to) : to_(std::move(to)) {}

  void tell(const LogEntry& entry) {
    const std::lock_guard lock(mutex_);
    if (held_) {
      entries_.push_back({entry.level, std::string(entry.code), std::string(entry.text)});
    } else {
      to_(entry);
    }
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    for (const Entry& entry : std::exchange(entries_, {})) {
      to_({entry.level, entry.code, entry.text});
    }
  }

 private:
  struct Entry {
    LogLevel level;
    std::string code;
    std::string text;
  };

  std::mutex mutex_;
  Log to_;
  bool held_ = true;
  std::vector<Entry> entries_;
};

// Tries again for a while, because another command may have the store open for a moment, or its
// Redis may be unavailable.
Result<Store> open_patiently(const std::string& url, const OpenOptions& options,
                             const Access& access) {
  auto store = tarry::open(url, options);
  const auto until = std::chrono::steady_clock::now() + kLockWait;
  while (!store && store.error().code == ErrorCode::conflict && url.starts_with("file:") &&
         std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kLockAgain);
    store = tarry::open(url, options);
  }
  while (!store && access.again && store.error().code == ErrorCode::unavailable &&
         url.starts_with("redis") && access.again(store.error())) {
    store = tarry::open(url, options);
  }
  return store;
}

// The advice that follows the error if a store cannot be opened. `unnamed`: the user named no
// store, and no server listens at the default address.
std::string_view what_to_do(ErrorCode code, const std::string& url, bool unnamed) {
  if (code == ErrorCode::unavailable && unnamed) {
    return "; start one with `tarry serve --store file:DIRECTORY`, or name a store: --store URL";
  }
  if (!url.starts_with("file:")) return {};
  switch (code) {
    case ErrorCode::not_found: return "; `tarry push` or `tarry serve` creates one";
    case ErrorCode::conflict:
      return "; if that is `tarry serve`, name its address instead: --store http://HOST:PORT";
    case ErrorCode::damaged:
      return "; `tarry store salvage DIRECTORY` makes a new store of the parts that are intact";
    default: return {};
  }
}

}  // namespace

std::optional<Store> Invocation::open(ExitCode& code, Access access) {
  return open(url(), std::move(access), code);
}

std::optional<Store> Invocation::open(const std::string& url, Access access, ExitCode& code) {
  if (!access.log) {
    // Messages about a shared Redis are dropped here: they are for its operator, and `tarry serve`
    // reports them.
    access.log = url.starts_with("redis")
                     ? Log([](const LogEntry&) {})
                     : Log([this](const LogEntry& entry) { output.tell(entry.text); });
  }
  if (url == kDefaultStore && store.empty()) {
    for (const std::string& line : config::mistyped_variables()) output.note(line);
  }
  if (!access.made) {
    access.made = [this](const std::string& directory) {
      output.note("made the directory " + base::quoted(directory) + " for a new store");
    };
  }
  const auto log = std::make_shared<HeldLog>(std::move(access.log));
  Progress progress("recovering", stderr, output.err());
  OpenOptions options;
  options.clock = std::move(access.clock);
  options.create = access.create;
  options.log = [log](const LogEntry& entry) { log->tell(entry); };
  options.progress = [&progress](std::uint64_t done, std::uint64_t total) {
    constexpr std::uint64_t kMiB = 1u << 20;
    progress.show(done, total, done / kMiB, "MiB");
  };
  const std::string made = access.create ? new_directory(url) : std::string();
  auto store = open_patiently(url, options, access);
  progress.clear();
  log->let_go();
  if (store) {
    if (!made.empty()) access.made(made);
    return std::move(*store);
  }
  Error error = std::move(store).error();
  error.message += what_to_do(error.code, url, this->store.empty() && url == kDefaultStore);
  output.error(error);
  code = exit_code_of_open(error.code);
  return std::nullopt;
}

}  // namespace tarry::app
