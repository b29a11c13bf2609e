// tarry store export, tarry store import: write a store's contents as lines of JSON, and read them.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <system_error>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/progress.h"
#include "app/system/line_reader.h"
#include "app/system/signals.h"
#include "app/transfer/draft_file.h"
#include "app/transfer/exporter.h"
#include "app/transfer/importer.h"
#include "app/transfer/moved_message.h"
#include "app/transfer/push_line.h"
#include "base/text/text.h"
#include "open/urls/store_url.h"
#include "wire/json/json_writer.h"

namespace tarry::app {
namespace {

using transfer::ExportReport;
using transfer::Importer;
using transfer::ImportReport;

struct TransferWords {
  std::string file = "-";
  std::vector<std::string> queues;
  bool keep_settings = false;
  std::optional<std::uint64_t> version;  // version of the export's format
};

// The exit code for an error. A wrong line is not a usage error. And if a signal ended the command,
// the store is not unreachable.
ExitCode code_of_end(const Error& error, const std::stop_source& stop) {
  const ExitCode code = exit_code(error.code);
  const bool stopped = error.code == ErrorCode::closed && stop.stop_requested();
  return code == ExitCode::usage || stopped ? ExitCode::failed : code;
}

/// Ends loops that check `source` now and then, and waits for descriptors, which `event`
/// interrupts.
struct Stop {
  std::stop_source source;
  base::StopEvent event;

  void request() {
    source.request_stop();
    event.set();
  }
};

// -- export

void print_export(Output& output, const ExportReport& report) {
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().field("queues", report.queues).field("messages", report.messages);
      json.field("leased", report.leased).field("stopping", report.stopping);
      json.field("gone", report.gone).field("remembered", report.remembered);
      json.name("problems").begin_array();
      for (const std::string& problem : report.problems) json.string(problem);
      json.end_array().end_object();
    });
    return;
  }
  output.print_line(fmt::format("{} of {}", counted(report.messages, "message"),
                                counted(report.queues, "queue")));
}

ExitCode tell_left_out(Output& output, const ExportReport& report) {
  for (const std::string& problem : report.problems) output.tell(problem);
  if (report.leased > 0) {
    output.note(
        fmt::format("Claimed by consumers: {}; an import delivers them again, or makes them dead "
                    "after their last attempt.",
                    counted(report.leased, "message")));
  }
  if (report.stopping > 0) {
    output.note(fmt::format("Not in the export: {} cancelled while claimed.",
                            counted(report.stopping, "message")));
  }
  if (report.gone > 0) {
    output.note(fmt::format("Not in the export: {} that ended before their turn came.",
                            counted(report.gone, "message")));
  }
  if (report.remembered > 0) {
    output.note(fmt::format("Not in the export: {} of settled messages.",
                            counted(report.remembered, "key")));
  }
  return report.problems.empty() ? ExitCode::done : ExitCode::failed;
}

// A layout of another program, which has no headers, lists by due time. So a claim or a move can
// shift a message past the place that the list has reached.
bool is_layout(const core::Engine& engine) { return !engine.capabilities().headers; }

// Identifies the export. A later run can only continue an export with the same text.
std::string export_of(const Invocation& invocation, const TransferWords& words) {
  std::string of = detail::masked_url(invocation.url());
  for (const std::string& queue : words.queues) of += " --queue " + queue;
  if (words.version) of += " --format " + std::to_string(*words.version);
  return of;
}

// Records the progress of an export now and then, and when the export is stopped.
class Marks {
 public:
  Marks(transfer::DraftFile& file, std::string of) : file_(file), of_(std::move(of)) {}

  /// Returns the mark that an earlier run has kept; the file is then positioned after that run's
  /// part. Null if there is no mark; the file is then empty. Errors: `conflict` if the mark is of
  /// another export.
  Result<const transfer::ExportMark*> begin() {
    if (!file_.is_file()) return nullptr;
    auto kept = transfer::kept_mark(path());
    if (!kept) return keep_all(std::move(kept).error());
    if (!*kept) {
      if (auto empty = file_.go_on(0); !empty) return empty.error();
      return nullptr;
    }
    kept_ = *std::move(*kept);
    const auto size = file_.size();
    if (!size) return size.error();
    if (kept_.of != of_) {
      return keep_all({ErrorCode::conflict,
                       fmt::format("{} is part of another export ({}): finish that export, or "
                                   "remove the file and {} to begin anew",
                                   base::quoted(file_.draft()), kept_.of, base::quoted(path()))});
    }
    if (*size < kept_.bytes) {
      return keep_all(
          {ErrorCode::damaged,
           fmt::format(
               "{} has only {} of the {} bytes that were written: remove it and {} to begin anew",
               base::quoted(file_.draft()), *size, kept_.bytes, base::quoted(path()))});
    }
    if (auto behind = file_.go_on(kept_.bytes); !behind) return behind.error();
    if (auto again = file_.keep(); !again) return again.error();
    return &kept_.mark;
  }

  Result<void> mark(const transfer::ExportMark& at, bool now) {
    constexpr std::chrono::milliseconds kEvery{200};
    const auto time = std::chrono::steady_clock::now();
    if (!file_.is_file() || (!now && time < last_ + kEvery)) return {};
    last_ = time;
    const auto bytes = file_.keep();
    if (!bytes) return bytes.error();
    any_ = true;
    return transfer::keep_mark(path(), {of_, *bytes, at});
  }

  /// Whether the same command can continue the export.
  [[nodiscard]] bool any() const noexcept { return any_; }
  /// Call `end` once the file has its final name.
  void end() const { ::unlink(path().c_str()); }

 private:
  [[nodiscard]] std::string path() const { return file_.draft() + ".mark"; }
  Error keep_all(Error error) {
    if (auto kept = file_.keep(); !kept) return kept.error();
    return error;
  }

  transfer::DraftFile& file_;
  const std::string of_;
  transfer::KeptMark kept_;
  bool any_ = false;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

ExitCode export_to(Invocation& invocation, const TransferWords& words) {
  Output& output = invocation.output;
  Stop stop;
  transfer::DraftFile file(words.file, &stop.event);
  if (auto opened = file.open(); !opened) return output.fail(opened.error());
  Marks marks(file, export_of(invocation, words));
  const auto from = marks.begin();
  if (!from) return output.fail(from.error());
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  Progress progress("exporting", stderr, output.err());
  transfer::ExportOptions options;
  options.queues = words.queues;
  if (words.version) options.version = static_cast<std::uint32_t>(*words.version);
  options.stop = stop.source.get_token();
  options.from = *from;
  options.written = [&](const transfer::Visit& visit) { return file.read_lines(visit); };
  options.mark = [&](const transfer::ExportMark& at) {
    return marks.mark(at, stop.source.stop_requested());
  };
  if (*from != nullptr) {
    output.note(fmt::format("continuing after {} messages that are in {}",
                            grouped((*from)->report.messages), file.draft()));
  }
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    progress.show(done, total, done, "messages");
  };
  Result<ExportReport> report = Error{ErrorCode::closed, "not begun"};
  {
    const SignalWatch watch([&stop](int) { stop.request(); });
    report = transfer::export_store(store->engine(), options,
                                    [&](std::string_view line) { return file.write_line(line); });
  }
  progress.clear();
  if (!report) {
    if (marks.any() || *from != nullptr) {
      output.note(fmt::format("{} has what was written so far; the same command continues it",
                              file.draft()));
    }
    output.error(report.error());
    return code_of_end(report.error(), stop.source);
  }
  if (auto published = file.publish(); !published) return output.fail(published.error());
  marks.end();
  if (words.file != "-") print_export(output, *report);
  if (is_layout(store->engine())) {
    output.note(
        "An export of a layout may miss messages that were moved or claimed meanwhile, or have "
        "them twice: it is complete only if nobody used the store.");
  }
  return tell_left_out(output, *report);
}

// -- import

void print_import(Output& output, const ImportReport& report) {
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().field_bool("complete", report.complete).field("lines", report.lines);
      json.field("imported", report.imported).field("found", report.found);
      json.field("settled", report.settled).field("ended", report.ended);
      json.field("conflicts", report.conflicts);
      json.field("failed", report.failed).name("held").begin_array();
      for (const std::string& queue : report.held) json.string(queue);
      json.end_array().name("problems").begin_array();
      for (const std::string& problem : report.problems) json.string(problem);
      json.end_array().end_object();
    });
    return;
  }
  Table table({{"OUTCOME"}, {"MESSAGES", true}});
  const auto add = [&](std::string_view name, std::uint64_t count, bool always) {
    if (always || count > 0) table.add({name, grouped(count)});
  };
  add("imported", report.imported, true);
  add("there already", report.found, false);
  add("settled", report.settled, false);
  add("ended since", report.ended, false);
  add("conflict", report.conflicts, false);
  add("failed", report.failed, false);
  output.print(table);
}

ExitCode tell_import(Output& output, const ImportReport& report) {
  for (const std::string& problem : report.problems) output.tell(problem);
  ExitCode code = ExitCode::done;
  if (report.failed > 0) code = worst(code, ExitCode::failed);
  if (report.conflicts > 0) code = worst(code, ExitCode::conflict);
  if (!report.held.empty()) {
    output.tell(fmt::format(
        "{} paused until an import is complete: import the whole file; messages that are there "
        "already are only counted",
        report.held.size() == 1 ? "1 queue stays" : grouped(report.held.size()) + " queues stay"));
  }
  return code;
}

Error too_long(const LineReader& reader) {
  return {ErrorCode::too_large,
          fmt::format("line {}: is over {} bytes", reader.number(), kLongestLine)};
}

// Reads up to the first line that is not empty, and checks that it begins an export. This comes
// before the store is opened, because opening may make the store.
Result<void> find_begin(LineReader& reader, std::string_view& line) {
  do {
    const auto more = reader.next(line);
    if (!more) return more.error();
    if (!*more) {
      return Error{ErrorCode::invalid_argument, "there is nothing to import: the input is empty"};
    }
  } while (line.find_first_not_of(" \t\r") == std::string_view::npos && !reader.too_long());
  if (reader.too_long()) return too_long(reader);
  if (auto begins = Importer::check_begin(line); !begins) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("line {}: {}", reader.number(), begins.error().message)};
  }
  return {};
}

// Adds to an error that the file ends in the middle of a line, if it does. That explains more than
// the field that the line then lacks.
Error with_the_cut(const LineReader& reader, Error error) {
  if (reader.unended() && error.code == ErrorCode::invalid_argument) {
    error.message += "; the file ends within this line: it was cut off";
  }
  return error;
}

// Reads all lines, beginning with `line`, until a line is wrong, the store fails, or a signal
// comes.
Result<void> read_lines(LineReader& reader, std::string_view line, std::uint64_t total,
                        Importer& importer, Stop& stop, Output& output) {
  const SignalWatch watch([&stop](int) { stop.request(); });
  Progress progress("importing", stderr, output.err());
  for (Result<bool> more = true;; more = reader.next(line)) {
    if (!more) return more.error();
    if (!*more) return importer.finish();
    if (reader.too_long()) return too_long(reader);
    if (auto taken = importer.take(line); !taken) return with_the_cut(reader, taken.error());
    progress.show(reader.bytes(), total, reader.number(), "lines");
    if (stop.source.stop_requested()) {
      return Error{ErrorCode::closed, fmt::format("line {}: stopped", reader.number())};
    }
  }
}

ExitCode import_from(Invocation& invocation, const TransferWords& words) {
  Output& output = invocation.output;
  const std::string url = invocation.url();
  if (invocation.is_fleeting()) {
    return output.usage("store " + base::quoted(url) +
                        " ends with this command, and what was imported would be lost");
  }
  const bool from_file = words.file != "-";
  const int fd = from_file ? ::open(words.file.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
  if (fd < 0) {
    return output.usage(
        fmt::format("cannot read {}: {}", base::quoted(words.file), std::strerror(errno)));
  }
  const std::unique_ptr<const int, void (*)(const int*)> closed(&fd, [](const int* open) {
    if (*open != STDIN_FILENO) ::close(*open);
  });
  std::error_code unknown;
  if (from_file && std::filesystem::is_directory(words.file, unknown)) {
    return output.usage(fmt::format("cannot read {}: it is a directory", base::quoted(words.file)));
  }
  Stop stop;
  LineReader reader(fd, kLongestLine, &stop.event);
  std::string_view line;
  if (auto begins = find_begin(reader, line); !begins) {
    output.error(begins.error());
    return ExitCode::failed;
  }
  ExitCode code{};
  auto store = invocation.open(code, {.create = true});
  if (!store) return code;
  if (const auto refused = refuse_moves_to(store->engine(), detail::masked_url(url))) {
    return output.fail(*refused);
  }
  Importer importer(store->engine(), words.keep_settings, reader.number() - 1);
  struct stat status{};
  const bool known = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
  const auto total = known ? static_cast<std::uint64_t>(status.st_size) : 0;
  const auto done = read_lines(reader, line, total, importer, stop, output);
  const ImportReport report = importer.report();
  print_import(output, report);
  code = tell_import(output, report);
  if (done) return code;
  output.error(done.error());
  return worst(code, code_of_end(done.error(), stop.source));
}

}  // namespace

void add_transfer_commands(CLI::App& store, Invocation& invocation) {
  {
    const auto [command, words] = add_command(store, invocation, "export", export_to, R"(
Write everything in a store as lines of JSON

Writes every queue with its settings, and every message. It leaves out, and counts, keys
of settled messages and messages that were cancelled while claimed. The store may be in
use, also over HTTP: a message is written as it is when its turn comes. FILE appears
when it is complete. If the export is cut short (a signal, a kill, a store that cannot
be reached), run the same command to continue.

  tarry store export shop.jsonl
  tarry store export --queue orders | gzip > orders.gz)");
    add_word(command, "FILE", words.file, "A new file (default: -, standard output)");
    add_words(command, "--queue", words.queues, "Only this queue; may be repeated");
    add_number(command, "--format", words.version, 1, transfer::kExportVersion,
               "Version of the lines (default: 2; 1 is for older programs)");
  }
  const auto [command, words] = add_command(store, invocation, "import", import_from, R"(
Read an export into a store

Messages keep their keys, due times, attempts, headers and priorities, dead ones their
reasons, queues their settings and pauses. Queues are paused until the last line of the
export is read. If the import is cut short, import the whole file again: messages that
are there already are only counted. An import never overwrites a message.

  tarry --store file:/var/lib/tarry store import shop.jsonl
  gunzip < orders.gz | tarry --store redis://127.0.0.1/0 store import)");
  add_word(command, "FILE", words.file, "The export (default: -, standard input)");
  command.add_flag("--keep-settings", words.keep_settings,
                   "Queues that exist already keep their settings");
}

}  // namespace tarry::app
