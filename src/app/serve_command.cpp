// tarry serve: one store, served over HTTP until a signal.
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <fstream>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include "app/command.h"
#include "app/commands.h"
#include "app/descriptors.h"
#include "app/signals.h"
#include "base/text.h"
#include "open/store_url.h"
#include "server/http/server.h"

namespace tarry::app {
namespace {

using namespace std::chrono_literals;

// Beyond this a client that is slow to take its answer has lost it.
constexpr Millis kDrainDeadline = 30s;

struct ServeOptions {
  std::string listen = "127.0.0.1:7733";
  std::optional<std::string> port_file;
  bool test_clock = false;
};

struct Address {
  std::string host;  // without the brackets of IPv6
  std::uint16_t port = 0;

  [[nodiscard]] std::string url() const {
    const bool v6 = host.find(':') != std::string::npos;
    return fmt::format("http://{}{}{}:{}", v6 ? "[" : "", host, v6 ? "]" : "", port);
  }
};

Result<Address> parse_listen(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return Error{
        ErrorCode::invalid_argument,
        fmt::format("--listen {}: must be HOST:PORT, as 127.0.0.1:7733", base::quoted(text))};
  }
  const auto port = base::parse_u64(text.substr(colon + 1), "--listen port", 0, 65535);
  if (!port) return port.error();
  Address address{text.substr(0, colon), static_cast<std::uint16_t>(*port)};
  if (address.host.front() == '[' && address.host.back() == ']') {
    address.host = address.host.substr(1, address.host.size() - 2);
  }
  return address;
}

/// Whole or not at all: who waits for the file must not read half a number.
Result<void> write_port_file(const std::string& path, std::uint16_t port) {
  const std::string draft = fmt::format("{}.{}", path, ::getpid());
  {
    std::ofstream file(draft);
    file << port << "\n";
    file.close();
    if (file && std::rename(draft.c_str(), path.c_str()) == 0) return {};
  }
  std::remove(draft.c_str());
  return Error{ErrorCode::invalid_argument,
               fmt::format("--port-file {}: cannot be written", base::quoted(path))};
}

/// Where the main thread waits for what happens on others.
class Events {
 public:
  void signalled() {
    change([this] { ++signals_; });
  }
  void drained(std::size_t open) {
    change([this, open] {
      drained_ = true;
      open_ = open;
    });
  }

  void wait_for_signal() {
    wait([this] { return signals_ > 0; });
  }
  /// True: drained. False: a second signal came first.
  [[nodiscard]] bool wait_for_drain() {
    wait([this] { return drained_ || signals_ > 1; });
    return drained_;
  }
  [[nodiscard]] std::size_t open() const { return open_; }

 private:
  template <typename Change>
  void change(Change change) {
    const std::lock_guard lock(mutex_);
    change();
    changed_.notify_all();
  }
  template <typename Until>
  void wait(Until until) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, until);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int signals_ = 0;
  bool drained_ = false;
  std::size_t open_ = 0;
};

void start_log() {
  auto log = spdlog::stderr_color_mt("tarry");
  log->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
  log->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(log));
}

void say_ready(Output& output, const std::string& url, const std::string& store) {
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().field("version", TARRY_VERSION).text_field("url", url);
      json.text_field("store", store).end_object();
    });
  } else {
    output.print_line(fmt::format("{} serves {} on {}", version_line(), store, url));
  }
  std::fflush(stdout);
}

void drain(http::Server& server, Events& events) {
  spdlog::info("stopping: finishing what is under way");
  server.drain(kDrainDeadline, [&events](std::size_t open) { events.drained(open); });
  if (!events.wait_for_drain()) {
    spdlog::warn("a second signal: connections are cut");
  } else if (events.open() > 0) {
    spdlog::warn("{} connections were still open after {}; they are cut", events.open(),
                 base::format_duration_ms(kDrainDeadline.count()));
  }
  server.stop();
}

Result<std::string> servable_store(const Session& session) {
  const std::string url = session.url();
  if (url == kDefaultStore && session.store.empty()) {
    return Error{ErrorCode::invalid_argument,
                 "serve needs a store of its own: --store file:DIRECTORY, memory: or redis://HOST"};
  }
  if (!url.starts_with("http:")) return url;
  return Error{ErrorCode::invalid_argument,
               fmt::format("serve needs a store of its own: --store must be file:, memory: or "
                           "redis:, not {}",
                           base::quoted(detail::masked_url(url)))};
}

// Called on the server's thread alone, so nothing moves the clock in between.
Result<void> step(ManualClock& clock, std::int64_t ms) {
  const std::int64_t to = clock.now().time_since_epoch().count() + ms;
  if (to < 0 || to > base::kMaxTimeMs) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("a step of {} ms leaves the years from 1970 to 2200", ms)};
  }
  clock.step(Millis(ms));
  return {};
}

ExitCode serve(Session& session, const ServeOptions& options) {
  const auto url = servable_store(session);
  if (!url) return session.output.fail(url.error());
  auto address = parse_listen(options.listen);
  if (!address) return session.output.fail(address.error());
  // A log whose reader has gone is no reason to die: the store still wants to be closed.
  std::signal(SIGPIPE, SIG_IGN);
  start_log();
  const std::uint64_t descriptors = raise_descriptor_limit();

  ExitCode code{};
  std::optional<ManualClock> clock;
  if (options.test_clock) clock.emplace();
  const auto warn = [](std::string_view line) { spdlog::warn("{}", line); };
  auto store = session.open(*url, {.create = true, .clock = clock, .log = warn}, code);
  if (!store) return code;

  http::ServerOptions server_options;
  server_options.max_connections = connections_within(descriptors, server_options.max_connections);
  server_options.address = address->host;
  server_options.port = address->port;
  server_options.warn = warn;
  if (clock) {
    server_options.now = [clock] { return clock->now(); };
    server_options.advance_clock = [clock](std::int64_t ms) mutable { clock->advance(Millis(ms)); };
    server_options.step_clock = [clock](std::int64_t ms) mutable { return step(*clock, ms); };
  }
  http::Server server(store->engine(), std::move(server_options));
  Events events;
  const SignalWatch watch([&events](int) { events.signalled(); });
  const auto port = server.start();
  if (!port) {
    session.output.error(port.error());
    const bool usage = port.error().code == ErrorCode::invalid_argument;
    return usage ? ExitCode::usage : ExitCode::failed;
  }
  address->port = *port;
  if (options.port_file) {
    const auto written = write_port_file(*options.port_file, *port);
    if (!written) return session.output.fail(written.error());
  }
  say_ready(session.output, address->url(), detail::masked_url(*url));
  if (clock)
    spdlog::warn("the clock stands still: POST /v1/clock/advance, suspend or step moves it");

  events.wait_for_signal();
  drain(server, events);
  store->close();
  spdlog::info("stopped");
  return ExitCode::done;
}

}  // namespace

void add_serve_command(CLI::App& root, Session& session) {
  auto options = std::make_shared<ServeOptions>();
  CLI::App& command = add_command(
      root, "serve", "Serve a store over HTTP, on this machine",
      {"tarry serve --store file:/var/lib/tarry",
       "tarry serve --store redis://redis.example --listen 127.0.0.1:7734",
       "tarry serve --store memory: --listen 127.0.0.1:0 --port-file port --test-clock"},
      "SIGTERM and Ctrl-C finish what is under way and close the store clean; a second one ends "
      "it\n"
      "at once.\n");
  add_word(command, "--listen", options->listen, "HOST:PORT (default: 127.0.0.1:7733); port 0: any")
      ->type_name("ADDRESS");
  add_word(command, "--port-file", options->port_file, "Write the port there once it listens")
      ->type_name("FILE");
  command.add_flag("--test-clock", options->test_clock,
                   "Time stands still until POST /v1/clock/advance moves it; for tests");
  set_action(command, session, [options](Session& given) { return serve(given, *options); });
}

}  // namespace tarry::app
