#include "app/commands/messages/bulk_push.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/output/progress.h"
#include "app/system/line_reader.h"
#include "app/system/signals.h"
#include "app/transfer/push_line.h"
#include "base/text/text.h"
#include "base/threads/stop_event.h"
#include "core/engine.h"
#include "core/rules/validation.h"
#include "wire/parts/batch.h"

namespace tarry::app {
namespace {

constexpr std::size_t kBatchItems = 500;
constexpr std::size_t kBatchBytes = 4u << 20;
constexpr std::size_t kInFlight = 4;  // batches that the store handles while the next ones are read
constexpr std::size_t kErrorsShown = 5;
/// The longest time between reading a line and pushing it, however slowly further lines arrive.
constexpr std::chrono::milliseconds kLongestHeld{100};

using Clock = std::chrono::steady_clock;

struct LineError {
  std::uint64_t line = 0;
  Error error;
};

/// The results of the lines.
struct Tally {
  std::array<std::uint64_t, static_cast<std::size_t>(Outcome::stale) + 1> outcomes{};
  std::uint64_t failed = 0;
  std::vector<LineError> errors;  // in order of arrival
  std::optional<LineError> end;   // the store failed: this line and the later ones were not pushed

  [[nodiscard]] std::uint64_t of(Outcome outcome) const {
    return outcomes[static_cast<std::size_t>(outcome)];
  }
  void fail(std::uint64_t line, Error error) {
    ++failed;
    errors.push_back({line, std::move(error)});
  }
};

struct Batch {
  core::PushRequest request;
  std::vector<std::uint64_t> lines;  // line numbers of its items
};

/// Sends batches to the engine, kInFlight at a time, and counts the answers. One thread calls all
/// members; answers come on the engine's threads.
class Pipeline {
 public:
  explicit Pipeline(core::Engine& engine) : engine_(engine) {}
  ~Pipeline() { drain(); }
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  void send(Batch batch) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return in_flight_ < kInFlight; });
      ++in_flight_;
    }
    engine_.submit(std::move(batch.request),
                   [this, lines = std::move(batch.lines)](Result<core::Reply> reply) {
                     const std::lock_guard lock(mutex_);
                     count(lines, reply);
                     --in_flight_;
                     // Notifies under the lock: once the lock is released, this object may be
                     // destroyed.
                     changed_.notify_all();
                   });
  }

  void drain() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return in_flight_ == 0; });
  }

  [[nodiscard]] bool broken() {
    const std::lock_guard lock(mutex_);
    return tally_.end.has_value();
  }
  void fail(std::uint64_t line, Error error) {
    const std::lock_guard lock(mutex_);
    tally_.fail(line, std::move(error));
  }
  [[nodiscard]] Tally take() {
    drain();
    return std::move(tally_);
  }

 private:
  void count(const std::vector<std::uint64_t>& lines, Result<core::Reply>& reply) {
    if (!reply) {
      // Either the batch as a whole was refused, or the store has failed for good. In both cases no
      // further batch is sent.
      for (const std::uint64_t line : lines) tally_.fail(line, reply.error());
      if (!tally_.end || tally_.end->line > lines.front()) {
        tally_.end = {lines.front(), reply.error()};
      }
      return;
    }
    const auto& items = std::get<core::PushReply>(*reply).items;
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (items[i].error) {
        tally_.fail(lines[i], *items[i].error);
      } else {
        ++tally_.outcomes[static_cast<std::size_t>(items[i].outcome)];
      }
    }
  }

  core::Engine& engine_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t in_flight_ = 0;
  Tally tally_;
};

/// Makes batches of lines, and keeps lines with the same key in order. An engine may work on
/// several batches at once, so a line whose key is in flight waits for the answer.
class Feeder {
 public:
  Feeder(const BulkPush& bulk, core::Engine& engine) : bulk_(bulk), pipeline_(engine) {
    batch_.request.queue = bulk.queue;
  }

  void line(const LineReader& reader, std::string_view text) {
    if (text.find_first_not_of(" \t") == std::string_view::npos) return;
    const auto push = read_push_line(bulk_.queue, reader, text);
    if (!push) {
      pipeline_.fail(reader.number(), push.error());
      return;
    }
    take(*push, reader.number());
  }

  /// When the current batch is to be sent even if it is not full; empty if it has no lines.
  [[nodiscard]] std::optional<Clock::time_point> send_by() const {
    if (batch_.lines.empty()) return std::nullopt;
    return first_at_ + kLongestHeld;
  }

  void flush() {
    if (batch_.lines.empty()) return;
    Batch full = std::move(batch_);
    batch_ = {};
    batch_.request.queue = bulk_.queue;
    if (++sent_ % 64 == 0) wait();  // so that the set of keys stays small
    for (std::string& key : batch_keys_) keys_in_flight_.insert(std::move(key));
    batch_keys_.clear();
    pipeline_.send(std::move(full));
  }

  [[nodiscard]] bool broken() { return pipeline_.broken(); }
  [[nodiscard]] Tally finish() {
    if (!broken()) flush();
    return pipeline_.take();
  }

 private:
  void wait() {
    pipeline_.drain();
    keys_in_flight_.clear();
  }

  void take(const core::PushRequest& one, std::uint64_t line) {
    core::PushItem item = one.items.front();
    const auto view = [&](core::Slice slice) { return core::view(one.bytes, slice); };
    std::string& bytes = batch_.request.bytes;
    if (!batch_.lines.empty() && bytes.size() + one.bytes.size() > kBatchBytes) flush();
    if (item.key.size > 0) {
      std::string key(view(item.key));
      if (keys_in_flight_.contains(key)) wait();
      batch_keys_.push_back(std::move(key));
    }
    const core::PushItem source = item;
    item.key = core::append(bytes, view(source.key));
    item.payload = core::append(bytes, view(source.payload));
    item.headers = core::append(bytes, view(source.headers));
    if (!item.if_exists) item.if_exists = bulk_.if_exists;
    if (batch_.lines.empty()) first_at_ = Clock::now();
    batch_.request.items.push_back(item);
    batch_.lines.push_back(line);
    if (batch_.lines.size() >= kBatchItems) flush();
  }

  const BulkPush& bulk_;
  Pipeline pipeline_;
  Batch batch_;
  Clock::time_point first_at_;  // when the batch's first line was read
  std::vector<std::string> batch_keys_;
  std::unordered_set<std::string> keys_in_flight_;
  std::uint64_t sent_ = 0;
};

constexpr std::array kShown{Outcome::pushed,    Outcome::kept,    Outcome::replaced,
                            Outcome::moved,     Outcome::revived, Outcome::exists,
                            Outcome::in_flight, Outcome::settled};

void print_json(Output& output, const Tally& tally, std::uint64_t lines) {
  output.print_json([&](wire::JsonWriter& json) {
    json.begin_object().field("lines", lines);
    for (const Outcome outcome : kShown) json.field(to_string(outcome), tally.of(outcome));
    json.field("failed", tally.failed).name("errors").begin_array();
    for (const LineError& bad : tally.errors) {
      json.begin_object().field("line", bad.line);
      wire::write_error(json, bad.error);
      json.end_object();
    }
    json.end_array().end_object();
  });
}

void print_table(Output& output, const Tally& tally) {
  Table table({{"OUTCOME"}, {"MESSAGES", true}});
  for (const Outcome outcome : kShown) {
    if (tally.of(outcome) == 0 && outcome != Outcome::pushed) continue;
    table.add({to_string(outcome), grouped(tally.of(outcome))});
  }
  table.add({"failed", grouped(tally.failed)});
  output.print(table);
}

ExitCode summarise(Invocation& invocation, Tally tally, std::uint64_t lines) {
  std::ranges::sort(tally.errors, {}, &LineError::line);
  Output& output = invocation.output;
  if (output.json()) {
    print_json(output, tally, lines);
  } else {
    print_table(output, tally);
  }
  // In JSON the answer contains the errors already.
  const std::size_t shown = output.json() ? 0 : std::min(tally.errors.size(), kErrorsShown);
  for (std::size_t i = 0; i < shown; ++i) {
    const LineError& bad = tally.errors[i];
    output.error({bad.error.code, fmt::format("line {}: {}", bad.line, bad.error.message)});
  }
  if (tally.errors.size() > shown) {
    output.note(fmt::format("... and {} more lines failed; -o json names them all",
                            grouped(tally.errors.size() - shown)));
  }
  ExitCode code = tally.failed > 0 ? ExitCode::failed : ExitCode::done;
  for (const Outcome outcome : kShown) {
    if (tally.of(outcome) > 0) code = worst(code, exit_code(outcome));
  }
  if (!tally.end) return code;
  output.error({tally.end->error.code,
                fmt::format("stopped: messages from line {} on may not have been pushed: {}",
                            tally.end->line, tally.end->error.message)});
  return worst(code, exit_code(tally.end->error.code));
}

/// Gives all lines to the feeder, until the end, a signal, or the store's failure. Returns an error
/// if the input could not be read to its end.
std::optional<Error> feed_lines(LineReader& reader, Feeder& feeder, std::uint64_t total,
                                Progress& progress) {
  std::string_view line;
  while (!feeder.broken()) {
    if (const auto by = feeder.send_by()) {
      const Result<bool> there = Clock::now() < *by ? reader.has_line_by(*by) : Result<bool>(false);
      if (!there) return there.error();
      if (!*there) {
        feeder.flush();
        continue;
      }
    }
    const auto more = reader.next(line);
    if (!more) return more.error();
    if (!*more) break;
    feeder.line(reader, line);
    progress.show(reader.bytes(), total, reader.number(), "messages");
  }
  return std::nullopt;
}

/// The first signal ends the reading; the second one ends the program at once.
void on_stop_signal(base::StopEvent& stop, int count) {
  stop.set();
  if (count > 1) std::_Exit(128 + SIGINT);
}

ExitCode tell_of_input(Output& output, const Error& error, std::uint64_t lines) {
  if (error.code != ErrorCode::closed) return output.fail(error);
  output.error(
      {error.code,
       fmt::format(
           "stopped by a signal after line {}: the lines after it were not read and not pushed",
           lines)});
  return ExitCode::failed;
}

}  // namespace

ExitCode bulk_push(Invocation& invocation, const BulkPush& bulk) {
  if (const auto error = core::check_queue_name(bulk.queue)) return invocation.output.fail(*error);
  const bool from_file = bulk.file != "-";
  const int fd = from_file ? ::open(bulk.file.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (fd < 0) {
    return invocation.output.usage(
        fmt::format("cannot read {}: {}", base::quoted(bulk.file), std::strerror(errno)));
  }
  struct stat status{};
  const bool asked = ::fstat(fd, &status) == 0;
  if (asked && S_ISDIR(status.st_mode)) {
    if (from_file) ::close(fd);
    return invocation.output.usage(
        fmt::format("cannot read {}: it is a directory", base::quoted(bulk.file)));
  }
  const bool known = asked && S_ISREG(status.st_mode);
  const auto total = known ? static_cast<std::uint64_t>(status.st_size) : 0;

  ExitCode code{};
  auto store = invocation.open(code, {.create = true});
  if (!store) {
    if (from_file) ::close(fd);
    return code;
  }
  base::StopEvent stop;
  const SignalWatch watch([&stop](int count) { on_stop_signal(stop, count); });
  LineReader reader(fd, kLongestLine, &stop);
  Feeder feeder(bulk, store->engine());
  std::optional<Error> broken_input;
  {
    Progress progress("pushing", stderr, invocation.output.err());
    broken_input = feed_lines(reader, feeder, total, progress);
  }
  Tally tally = feeder.finish();
  if (from_file) ::close(fd);
  code = summarise(invocation, std::move(tally), reader.number());
  invocation.note_if_fleeting();
  if (broken_input) {
    code = worst(code, tell_of_input(invocation.output, *broken_input, reader.number()));
  }
  return code;
}

}  // namespace tarry::app
