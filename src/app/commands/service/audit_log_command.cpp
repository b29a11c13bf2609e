// tarry audit-log: lines of a server's audit log, filtered.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "app/output/printable.h"
#include "app/system/line_reader.h"
#include "base/text/text.h"
#include "core/rules/queue_pattern.h"
#include "server/audit/act.h"
#include "server/audit/told.h"

namespace tarry::app {
namespace {

using audit::Told;

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::size_t kTableRows = 1'000;  // of a table; then another one begins

struct AuditWords {
  std::vector<std::string> files;
  std::optional<std::string> act;
  std::optional<std::string> identity;
  std::optional<std::string> queue;
  std::optional<std::string> key;
  std::optional<std::string> outcome;
  std::optional<Time> since;
  std::optional<Time> until;
  bool refused = false;
};

const std::vector<std::string_view>& act_names() {
  static const std::vector<std::string_view> kNames = [] {
    std::vector<std::string_view> names;
    for (const audit::Act act : audit::kActs) names.push_back(to_string(act));
    return names;
  }();
  return kNames;
}

bool is(const std::optional<std::string>& wanted, const std::string& found) {
  return !wanted || *wanted == found;
}

bool chooses(const AuditWords& words, const Told& told) {
  return is(words.act, told.act) && is(words.identity, told.identity) && is(words.key, told.key) &&
         is(words.outcome, told.outcome) &&
         (!words.queue || core::matches(*words.queue, told.queue)) &&
         (!words.since || told.time >= *words.since) &&
         (!words.until || told.time < *words.until) && (!words.refused || told.is_refused());
}

/// Prints lines as rows of a table, or as they are.
class Lines {
 public:
  explicit Lines(Output& output) : output_(output) {}

  /// `at_once`: more lines may come only later, so that this one must not wait for them.
  Result<void> add(std::string_view line, const Told& told, bool at_once) {
    if (output_.json()) {
      output_.print_line(line);
      return at_once ? Output::flush() : Result<void>();
    }
    const std::string time = time_text(told.time);
    const std::string key = told.key.empty() ? told.what : told.key;
    const std::string outcome =
        told.more.empty() ? told.outcome : fmt::format("{}: {}", told.outcome, told.more);
    table_.add({time, told.act, told.identity, told.peer, told.queue, key, outcome});
    if (++rows_ == kTableRows) end();
    return {};
  }
  void end() {
    if (rows_ > 0) output_.print(std::exchange(table_, fresh()));
    rows_ = 0;
  }

 private:
  static Table fresh() {
    return Table({{"TIME"},
                  {"ACT"},
                  {"IDENTITY", false, true},
                  {"PEER", false, true},
                  {"QUEUE", false, true},
                  {"KEY", false, true},
                  {"OUTCOME", false, true}},
                 true);
  }

  Output& output_;
  Table table_ = fresh();
  std::size_t rows_ = 0;
};

/// `name`: of the file, for messages.
Result<void> read_log(int fd, const std::string& name, const AuditWords& words, Output& output,
                      Lines& lines) {
  LineReader reader(fd, kLongestLine);
  struct stat status{};
  const bool at_once = ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode);
  for (std::string_view line;;) {
    const auto more = reader.next(line);
    if (!more) return Error{more.error().code, fmt::format("{}: {}", name, more.error().message)};
    if (!*more) return {};
    if (line.empty()) continue;
    const auto told = audit::read_line(line);
    if (!told) {
      output.tell(fmt::format("{}:{}: skipped: {}", name, reader.number(), told.error().message));
    } else if (chooses(words, *told)) {
      if (auto added = lines.add(line, *told, at_once); !added) return added;
    }
  }
}

Result<void> read_file(const std::string& file, const AuditWords& words, Output& output,
                       Lines& lines) {
  if (file == "-") return read_log(STDIN_FILENO, "standard input", words, output, lines);
  const std::string name = printable(file);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Error{ErrorCode::io_error, fmt::format("{}: {}", name, std::strerror(errno))};
  auto read = read_log(fd, name, words, output, lines);
  ::close(fd);
  return read;
}

ExitCode show_audit_log(Invocation& invocation, const AuditWords& words) {
  if (words.queue) {
    if (const auto bad = core::check_queue_pattern(*words.queue))
      return invocation.output.fail(*bad);
  }
  Lines lines(invocation.output);
  const std::vector<std::string> standard_input{"-"};
  for (const std::string& file : words.files.empty() ? standard_input : words.files) {
    const auto read = read_file(file, words, invocation.output, lines);
    if (read) continue;
    lines.end();
    return invocation.output.fail(read.error());
  }
  lines.end();
  return ExitCode::done;
}

}  // namespace

void add_audit_log_command(CLI::App& root, Invocation& invocation) {
  const auto [command, words] = add_command(root, invocation, "audit-log", show_audit_log, R"(
Show who cancelled, purged, paused, ... from a server's audit log

The files are read in the order in which they are given; without files, standard input is
read. A line that a crash has cut off is named on standard error and skipped. With -o json
the lines are printed as they are.

  tarry audit-log /var/log/tarry/audit.jsonl --key order:42
  tarry audit-log audit.jsonl.1 audit.jsonl --act purge --since 2030-01-31T00:00:00Z
  tail -F audit.jsonl | tarry audit-log -o json --refused)");
  add_words(command, "FILE", words.files, "Files of server.audit_log; -: standard input");
  add_choice(command, "--act", words.act, act_names(), "Only this act: cancel, purge, ...")
      ->type_name("ACT");
  add_word(command, "--identity", words.identity, "Only acts of the token with this name")
      ->type_name("NAME");
  add_word(command, "--queue", words.queue,
           "Only acts on this queue, or on queues that begin so: 'shop.*'")
      ->type_name("PATTERN");
  add_word(command, "--key", words.key, "Only acts that name this message (of a bury: receipt)");
  add_word(command, "--outcome", words.outcome, "Only acts with this outcome: done, cancelled, ...")
      ->type_name("WORD");
  command.add_flag("--refused", words.refused, "Only acts that were refused, or failed");
  add_time(command, "--since", words.since, "Only acts from then on");
  add_time(command, "--until", words.until, "Only acts before then");
}

}  // namespace tarry::app
