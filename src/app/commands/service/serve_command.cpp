// tarry serve: one store, served over HTTP until a signal.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/commands/service/serve_flags.h"
#include "app/commands/service/serve_fronts.h"
#include "app/config/listen.h"
#include "app/output/line_writer.h"
#include "app/output/printable.h"
#include "app/relays/relays.h"
#include "app/serve/log.h"
#include "app/serve/servable.h"
#include "app/serve/serve_reload.h"
#include "app/serve/serve_schedules.h"
#include "app/serve/serve_tokens.h"
#include "app/system/descriptors.h"
#include "app/system/init_process.h"
#include "app/system/signals.h"
#include "base/text/text.h"
#include "open/handles/ask.h"
#include "open/urls/store_url.h"
#include "schedule/scheduler.h"
#include "server/audit/trail.h"
#include "server/listening/inherited_sockets.h"
#include "server/presets/preset_engine.h"
#include "server/session/fronts.h"

namespace tarry::app {
namespace {

using config::Config;
using config::Which;

/// The main thread waits here for events from other threads.
class Events {
 public:
  void signalled() {
    change([this] { ++signals_; });
  }
  void hung_up() {
    change([this] { hung_up_ = true; });
  }
  void relays_ended() {
    change([this] { relays_ended_ = true; });
  }
  void drained(std::size_t open) {
    change([this, open] {
      drained_ = true;
      open_ = open;
    });
  }

  /// Waits for a signal. Returns true if it means to reload, false if it means to end.
  [[nodiscard]] bool wait_for_hangup() {
    wait([this] { return signals_ > 0 || hung_up_; });
    return std::exchange(hung_up_, false) && signals_ == 0;
  }
  enum class Drain : std::uint8_t { done, signalled, relays_late };
  /// Waits until the server and the relays have drained. `until`: how long it waits for the relays.
  /// Returns `signalled` if a second signal came first.
  [[nodiscard]] Drain wait_for_drain(std::chrono::steady_clock::time_point until) {
    std::unique_lock lock(mutex_);
    const auto done = [this] { return (drained_ && relays_ended_) || signals_ > 1; };
    const auto served = [this] { return drained_ || signals_ > 1; };
    if (!changed_.wait_until(lock, until, done)) changed_.wait(lock, served);
    if (drained_ && relays_ended_) return Drain::done;
    return signals_ > 1 ? Drain::signalled : Drain::relays_late;
  }
  void wait_for_relays() {
    wait([this] { return relays_ended_; });
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
  bool hung_up_ = false;
  bool drained_ = false;
  bool relays_ended_ = false;
  std::size_t open_ = 0;
};

std::string ready_line(const Output& output, const ServeLog& log, bool logs_json,
                       const std::vector<std::string>& urls, const std::string& store) {
  if (!output.json() || logs_json) return log.ready_line(urls, store);
  std::string text;
  wire::JsonWriter json(text);
  json.begin_object().field("version", TARRY_VERSION);
  write_ready(json, urls, store);
  json.end_object();
  return text + "\n";
}

/// If the log is JSON, the reason why the server ends is written as JSON too.
class ErrorsInLog {
 public:
  ErrorsInLog(Output& output, ServeLog& log, bool wanted) : output_(output) {
    if (wanted) output.tell_errors_to([&log](std::string_view line) { log.error("ended", line); });
  }
  ~ErrorsInLog() { output_.tell_errors_to(nullptr); }
  ErrorsInLog(const ErrorsInLog&) = delete;
  ErrorsInLog& operator=(const ErrorsInLog&) = delete;

 private:
  Output& output_;
};

/// Runs the store's schedules; null if the store cannot keep any. `engine` gives new queues the
/// settings of the configuration.
std::unique_ptr<schedule::Scheduler> scheduler_of(const Store& store, core::Engine& engine,
                                                  ServeLog& log) {
  if (!schedule::Scheduler::is_possible(store)) return nullptr;
  const auto configure = [&engine](const std::string& queue,
                                   const SettingsPatch& patch) -> Result<QueueSettings> {
    auto reply = detail::wait_for(engine, core::ConfigureRequest{queue, patch});
    if (!reply) return std::move(reply).error();
    return std::get<core::ConfigureReply>(*reply).settings;
  };
  return std::make_unique<schedule::Scheduler>(
      store, [&log](const LogEntry& entry) { log.tell(entry); }, configure);
}

void drain(session::Fronts& server, Relays& relays, Events& events, Millis deadline,
           ServeLog& log) {
  log.info("stopping", "stopping: finishing work in progress");
  relays.stop();
  server.drain(deadline, [&events](std::size_t open) { events.drained(open); });
  const auto ended = events.wait_for_drain(std::chrono::steady_clock::now() + deadline);
  if (ended == Events::Drain::signalled) {
    log.warning("cut_short", "a second signal: connections are cut, relays end at once");
    relays.abandon();
  } else if (ended == Events::Drain::relays_late) {
    log.warning("relays_late", fmt::format("relays were still at work after {}; they are ended now",
                                           base::format_duration_ms(deadline.count())));
    relays.abandon();
  }
  if (ended != Events::Drain::signalled && events.open() > 0) {
    log.warning("connections_cut",
                fmt::format("{} connections were still open after {}; they are cut", events.open(),
                            base::format_duration_ms(deadline.count())));
  }
  server.stop();
  events.wait_for_relays();
}

Relays::Hooks hooks_of(ServeLog& log, Events& events) {
  return {[&log](const LogEntry& entry) { log.tell(entry); },
          [&log](const Error& error) { log.error("relay_ended", error.message); },
          [&events] { events.relays_ended(); }};
}

session::Options server_options(const Config& config, const ServeTokens& tokens,
                                const listening::Tls& tls, audit::FilePtr audit, ServeLog& log) {
  session::Options options;
  static_cast<session::Limits&>(options) = limits_of(config);
  options.tokens = tokens_of(tokens);
  options.tls = tls.context;
  options.audit = std::move(audit);
  options.log = [&log](const LogEntry& entry) { log.tell(entry); };
  options.on_request = [&log](const session::RequestNote& note) { log.request(note); };
  return options;
}

/// Another process may give back a port that it holds; anything else must be mended in the
/// settings.
ExitCode cannot_listen(Output& output, const Error& error) {
  output.error(error);
  const bool settings_are_wrong =
      error.code == ErrorCode::invalid_argument || error.code == ErrorCode::permission_denied;
  return settings_are_wrong ? ExitCode::usage : ExitCode::failed;
}

/// If the store can keep no schedules, the settings are wrong.
ExitCode cannot_schedule(Output& output, const Error& error) {
  output.error({error.code, "[[schedule]]: " + error.message});
  return error.code == ErrorCode::unsupported ? ExitCode::usage : exit_code(error.code);
}

/// Waits for the store, because Redis may start after this server, on another machine or on this
/// one. A signal ends the wait and the program at once: no work is in progress.
class WaitForStore {
 public:
  WaitForStore(std::optional<Millis> most, ServeLog& log) : most_(most), log_(log) {}

  bool again(const Error& away) {
    const auto passed = std::chrono::steady_clock::now() - begun_;
    if (most_ && passed >= *most_) return false;
    if (!std::exchange(told_, true)) {
      const std::string until =
          most_ ? " for up to " + base::format_duration_ms(most_->count()) : "";
      log_.warning("store_away", fmt::format("{}; trying again{}", away.message, until));
    }
    constexpr std::chrono::milliseconds kEvery{500};
    const auto left = most_ ? *most_ - std::chrono::floor<Millis>(passed) : Millis(kEvery);
    std::this_thread::sleep_for(std::min<std::chrono::milliseconds>(kEvery, left));
    return true;
  }
  void over() const {
    if (told_) log_.info("store_back", "the store is there");
  }

 private:
  const std::optional<Millis> most_;
  ServeLog& log_;
  const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
  bool told_ = false;
};

/// Options for the commands of relays: they get the limit of open files with which this process was
/// started, and no secrets.
relay::ChildOptions children_of(std::optional<std::uint64_t> descriptors, const std::string& url) {
  relay::ChildOptions children;
  children.descriptors = descriptors;
  children.withheld = {"TARRY_TOKEN"};
  if (detail::masked_url(url) != url) children.withheld.emplace_back("TARRY_STORE");
  return children;
}

/// Returns nothing if it fails; then the reason has been printed, and `code` is the exit code.
std::optional<Store> open_store(Invocation& invocation, const Config& config,
                                const std::optional<ManualClock>& clock, ServeLog& log,
                                ExitCode& code) {
  const auto& most = config.at(Which::store_wait).value;
  WaitForStore wait(most ? std::optional(Millis(most->number)) : std::nullopt, log);
  Access access;
  access.create = true;
  access.clock = clock;
  access.log = [&log](const LogEntry& entry) { log.tell(entry); };
  access.made = [&log](const std::string& directory) {
    log.info("store_made", fmt::format("made the directory {} for a new store", directory));
  };
  access.again = [&wait](const Error& away) { return wait.again(away); };
  auto store = invocation.open(config.text(Which::store_url), std::move(access), code);
  if (store) wait.over();
  return store;
}

/// Writes the port file, if the setting names one, and reports where the server listens and by
/// which clock.
Result<void> tell_ready(const Output& output, const Config& config, ServeLog& log,
                        const ServeFronts& fronts, const std::string& store) {
  const auto urls = fronts.urls(!config.text(Which::tls_cert).empty());
  if (const std::string file = config.text(Which::port_file); !file.empty()) {
    if (auto written = write_port_file(file, fronts.addresses()); !written) return written;
  }
  const bool logs_json = config.text(Which::log_format) == "json";
  LineWriter stdout_lines(STDOUT_FILENO);
  stdout_lines.write(ready_line(output, log, logs_json, urls, detail::masked_url(store)));
  if (config.number(Which::test_clock) != 0) {
    log.warning("test_clock",
                "the clock stands still: only POST /v1/clock/advance, suspend or step moves it");
  }
  return {};
}

/// Checks that need no open port, store or file.
Result<void> check_settings(const Config& config) {
  if (auto good = check_servable(config); !good) return good;
  if (auto good = check_front_stores(config); !good) return good;
  const std::string file = config.text(Which::port_file);
  return file.empty() ? Result<void>() : check_port_file(file);
}

ExitCode serve(Invocation& invocation, const ServeFlags& flags) {
  // Before the fork: they are meant for the process that was started.
  auto inherited = listening::InheritedSockets::take();
  leave_process_one_to_an_init();
  // From here on a SIGHUP is kept until the store is open; then the files are read again.
  const HangupsKept hangups;
  ExitCode code{};
  auto config = load_config(invocation, flags, code);
  if (!config) return code;
  // If the reader of the log goes away, the server must live on, to close the store properly.
  std::signal(SIGPIPE, SIG_IGN);
  const bool logs_json = config->text(Which::log_format) == "json";
  ServeLog log(config->text(Which::log_level),
               logs_json ? ServeLog::Format::json : ServeLog::Format::text);
  const ErrorsInLog errors(invocation.output, log, logs_json);
  if (const auto good = check_settings(*config); !good) return invocation.output.fail(good.error());
  const std::string url = config->text(Which::store_url);
  auto tokens = start_tokens(*config, invocation.output);
  if (!tokens) return ExitCode::usage;
  auto tls = read_tls(*config);
  if (!tls) return invocation.output.fail(tls.error());
  auto audit = open_audit_log(*config);
  if (!audit) return invocation.output.fail(audit.error());
  // The ports come first: if one is taken, no store is made or opened.
  if (!inherited) return invocation.output.fail(inherited.error());
  auto fronts = ServeFronts::reserve(*config, *std::move(inherited));
  if (!fronts) return cannot_listen(invocation.output, fronts.error());
  // The limit is raised before the store is opened, because its files need descriptors too.
  const auto descriptors = descriptor_limit();
  static_cast<void>(raise_descriptor_limit());
  for (const std::string& line : notes_of(*config)) log.warning("configuration", line);
  note_open_token(*config, log);
  note_open_audit_log(*config, log);
  note_insecure(*config, log);
  note_tls(*config, *tls, log);
  for (const std::string& address : fronts->inherited()) {
    log.info("socket_inherited", fmt::format("{}: the socket was passed on", printable(address)));
  }

  std::optional<ManualClock> clock;
  if (config->number(Which::test_clock) != 0) clock.emplace();
  auto store = open_store(invocation, *config, clock, log, code);
  if (!store) return code;
  if (const auto good = fronts->check(store->engine().capabilities()); !good) {
    return invocation.output.fail(good.error());
  }
  if (auto applied = apply_queue_rules(store->engine(), config->queues, log); !applied) {
    return invocation.output.fail(applied.error());
  }
  if (auto applied = apply_schedules(*store, config->schedules, log); !applied) {
    return cannot_schedule(invocation.output, applied.error());
  }
  presets::PresetEngine engine(store->engine(), config->queues);
  Events events;
  const auto relays = Relays::make(store->engine(), url, config->relays, hooks_of(log, events),
                                   children_of(descriptors, url));
  if (!relays) return invocation.output.fail(relays.error());
  session::Options options = server_options(*config, *tokens, *tls, *std::move(audit), log);
  note_fewer_connections(*config, options, log);
  auto scheduler = scheduler_of(*store, engine, log);  // the server reads its figures
  session::Fronts server(engine, std::move(options));
  const SignalWatch watch([&events](int) { events.signalled(); }, [&events] { events.hung_up(); });
  const FrontMaking making{*config, clock, **relays, scheduler.get()};
  if (const auto begun = server.start(fronts->listening(making)); !begun) {
    return cannot_listen(invocation.output, begun.error());
  }
  if (scheduler) scheduler->start();
  if (const auto told = tell_ready(invocation.output, *config, log, *fronts, url); !told) {
    return invocation.output.fail(told.error());
  }

  (*relays)->start();
  const Serving serving{*store, engine, server, log, *tokens, *tls};
  while (events.wait_for_hangup()) {
    reload(*config, all_flags(invocation, flags), serving);
    if (scheduler) scheduler->check_queues_again();
  }
  if (scheduler) scheduler->stop();
  drain(server, **relays, events, Millis(config->number(Which::drain_timeout)), log);
  scheduler.reset();
  store->close();
  log.info("stopped", "stopped");
  return ExitCode::done;
}

}  // namespace

void add_serve_command(CLI::App& root, Invocation& invocation) {
  const auto [command, flags] = add_command(root, invocation, "serve", serve, R"(
Serve a store over HTTP

Flags win over environment variables, and these over the file; `tarry config check` with
the same flags shows the result. SIGHUP reads the file again. After SIGTERM or Ctrl-C
the server finishes requests in progress and closes the store cleanly; a second signal
ends it at once.

  tarry serve --store file:/var/lib/tarry
  tarry serve --config /etc/tarry.toml
  tarry serve --store redis://redis.example --listen 127.0.0.1:7734,[::1]:7734
  tarry serve --store memory: --listen 127.0.0.1:0 --port-file port --test-clock)");
  add_serve_flags(command, flags);
}

}  // namespace tarry::app
