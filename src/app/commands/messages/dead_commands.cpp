// tarry dead ls, revive, rm: messages that were set aside.
#include <algorithm>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/command_line/filter_flags.h"
#include "app/commands/commands.h"
#include "app/commands/listing.h"
#include "app/commands/messages/bulk_verbs.h"
#include "app/commands/messages/key_pages.h"
#include "app/output/answers.h"
#include "app/output/progress.h"
#include "base/text/text.h"

namespace tarry::app {
namespace {

struct DeadOptions {
  std::string queue;
  std::vector<std::string> keys;
  bool all = false;
  bool yes = false;
  bool dry_run = false;
  FilterFlags filter;
};

Error not_dead(const MessageInfo& info) {
  return {ErrorCode::conflict,
          fmt::format("message {} is {}, not dead", base::quoted(info.key), to_string(info.state))};
}

/// The answer for a key that names no dead message: an outcome, or an error.
Result<Answer> otherwise(const Queue& queue, const std::string& key) {
  const auto info = queue.get(key);
  if (info) return not_dead(*info);
  if (info.error().code == ErrorCode::not_found) return Answer{Outcome::unknown, {}, {}};
  return info.error();
}

// Revives one key per call: the verb answers with a count only, and each key needs an answer of its
// own.
Result<Answer> revive_one(const Queue& queue, const std::string& key) {
  const std::string_view one = key;
  const auto count = queue.revive({&one, 1});
  if (!count) return count.error();
  if (*count == 1) return Answer{Outcome::revived, {}, {}};
  return otherwise(queue, key);
}

Result<Answer> remove_one(const Queue& queue, const std::string& key) {
  const auto info = queue.get(key);
  if (!info || info->state != State::dead) return otherwise(queue, key);
  return queue.cancel(key);
}

ExitCode print_count(Output& output, const DeadOptions& options, std::string_view done,
                     std::uint64_t count) {
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("queue", options.queue).field(done, count).end_object();
    });
  } else {
    output.print_line(
        fmt::format("queue {}: {} {}", options.queue, counted(count, "message"), done));
  }
  return ExitCode::done;
}

constexpr const char* kDeadFilters = "--prefix, --due-between, --header or --reason";

std::optional<std::string> bad_choice(const DeadOptions& options, std::string_view verb) {
  const int ways =
      (options.all ? 1 : 0) + (options.keys.empty() ? 0 : 1) + (options.filter.given() ? 1 : 0);
  if (ways != 1) {
    return fmt::format("dead {} needs {}KEYs, --all, or {}", verb, ways > 1 ? "either " : "",
                       kDeadFilters);
  }
  if (options.dry_run && !options.keys.empty()) {
    return fmt::format("--dry-run goes with --all or {} only", kDeadFilters);
  }
  return std::nullopt;
}

template <typename Chosen>
ExitCode run_on_dead(Invocation& invocation, const DeadOptions& options, Chosen action) {
  auto filter = filter_of(options.filter);
  if (!filter) return invocation.output.fail(filter.error());
  return run_on_all(invocation, {options.queue,
                                 *std::move(filter),
                                 {State::dead},
                                 std::move(action),
                                 options.dry_run,
                                 options.yes});
}

template <typename Verb>
ExitCode each(Invocation& invocation, const DeadOptions& options, const Queue& queue, Verb verb) {
  std::vector<Result<Answer>> answers;
  for (const std::string& key : options.keys) answers.push_back(verb(queue, key));
  return print_answers(invocation.output, "key", options.keys, answers);
}

ExitCode revive(Invocation& invocation, const DeadOptions& options) {
  if (const auto bad = bad_choice(options, "revive")) return invocation.output.usage(*bad);
  if (options.filter.given() || options.dry_run)
    return run_on_dead(invocation, options, ReviveAll{});
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(options.queue);
  if (!options.all) return each(invocation, options, queue, revive_one);
  const auto stats = queue.stats();  // a mistyped name must not be answered with "0 revived"
  if (!stats) return invocation.output.fail(stats.error());
  const auto count = queue.revive();
  if (!count) return invocation.output.fail(count.error());
  return print_count(invocation.output, options, "revived", *count);
}

ExitCode remove_all(Invocation& invocation, const DeadOptions& options, const Queue& queue) {
  const auto stats = queue.stats();
  if (!stats) return invocation.output.fail(stats.error());
  Progress progress("removing", stderr, invocation.output.err());
  std::uint64_t removed = 0;
  OutcomeTally tally;
  const auto done = each_page(queue, {State::dead}, {}, [&](const std::vector<MessageInfo>& page) {
    const auto answers = queue.cancel(keys_of(page));
    if (!answers) return std::optional<Error>(answers.error());
    tally.add(*answers);
    removed = tally.count(Outcome::cancelled);
    progress.show(removed, stats->dead, removed, "messages");
    return std::optional<Error>();
  });
  progress.clear();
  if (done) invocation.output.error(*done);
  const ExitCode code = print_count(invocation.output, options, "removed", removed);
  return done ? worst(exit_code(done->code), code) : worst(tally.code(), code);
}

ExitCode remove(Invocation& invocation, const DeadOptions& options) {
  if (const auto bad = bad_choice(options, "rm")) return invocation.output.usage(*bad);
  if (options.filter.given() || options.dry_run)
    return run_on_dead(invocation, options, CancelAll{});
  if (options.all && !options.yes) {
    return invocation.output.usage(fmt::format(
        "dead rm --all removes all dead messages of queue {} for good; confirm with --yes",
        base::quoted(options.queue)));
  }
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(options.queue);
  if (options.all) return remove_all(invocation, options, queue);
  return each(invocation, options, queue, remove_one);
}

void add_targets(CLI::App& command, DeadOptions& options, const std::string& all) {
  add_word(command, "QUEUE", options.queue, "The queue")->required();
  add_words(command, "KEY", options.keys, "Keys of messages");
  command.add_flag("--all", options.all, all);
  add_filter(command, options.filter);
  command.add_flag("--dry-run", options.dry_run, "Only count the messages that the flags choose");
}

ExitCode list_dead(Invocation& invocation, const ListingWords& words) {
  return print_messages(invocation, words, State::dead);
}

}  // namespace

void add_dead_commands(CLI::App& root, Invocation& invocation) {
  CLI::App& dead = add_group(root, "dead", R"(
Dead messages, which were set aside: ls, revive, rm

A message is dead after its last attempt, after a bury, or when its payload is damaged.
A queue keeps its dead for `dead_keep`: see tarry queue set.

  tarry dead ls orders
  tarry dead revive orders --all)");
  {
    const auto [command, words] = add_command(dead, invocation, "ls", list_dead, R"(
List the dead messages of a queue with their reasons

  tarry dead ls orders
  tarry dead ls orders --limit 1000)");
    add_listing_words(command, words, false);
  }
  {
    const auto [command, options] = add_command(dead, invocation, "revive", revive, R"(
Deliver dead messages again: due now, attempts start anew

  tarry dead revive orders order:42 order:43
  tarry dead revive orders --all
  tarry dead revive orders --reason '*answered 503*' --dry-run)");
    add_targets(command, options, "All dead messages of the queue");
  }
  {
    const auto [command, options] = add_command(dead, invocation, "rm", remove, R"(
Remove dead messages for good

If somebody revives a message at the same moment, it may be cancelled.

  tarry dead rm orders order:42
  tarry dead rm orders --all --yes)");
    add_targets(command, options, "All dead messages of the queue; needs --yes");
    command.add_flag("--yes", options.yes,
                     "Confirm when the flags choose all the dead: what is\n"
                     "removed cannot be brought back");
  }
}

}  // namespace tarry::app
