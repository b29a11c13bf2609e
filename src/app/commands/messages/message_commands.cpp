// tarry cancel, get, reschedule, ls: messages by key.
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/command_line/filter_flags.h"
#include "app/commands/commands.h"
#include "app/commands/listing.h"
#include "app/commands/messages/bulk_verbs.h"
#include "app/output/answers.h"
#include "app/output/json.h"
#include "base/text/text.h"
#include "wire/message.h"
#include "wire/parts/batch.h"

namespace tarry::app {
namespace {

struct KeysOptions {
  std::string queue;
  std::vector<std::string> keys;
  When when;
  std::optional<Millis> by;
  std::optional<std::uint64_t> priority;
  FilterFlags filter;
  bool dry_run = false;
  bool yes = false;
};

constexpr const char* kFilters = "--prefix, --due-between, --header or --state";

/// The error if messages are named in a wrong way; empty if they are named correctly.
std::optional<std::string> bad_targets(const KeysOptions& options, std::string_view verb) {
  const bool filtered = options.filter.given();
  if (filtered && !options.keys.empty()) {
    return fmt::format("{} takes either KEYs or {}, not both", verb, kFilters);
  }
  if (filtered) return std::nullopt;
  if (options.keys.empty()) return fmt::format("{} needs a KEY, or {}", verb, kFilters);
  if (options.dry_run || options.yes) {
    return fmt::format("{} goes with {} only", options.dry_run ? "--dry-run" : "--yes", kFilters);
  }
  return std::nullopt;
}

std::vector<std::string_view> views(const std::vector<std::string>& words) {
  return {words.begin(), words.end()};
}

template <typename Chosen>
ExitCode run_filtered(Invocation& invocation, const KeysOptions& options, Chosen action) {
  auto filter = filter_of(options.filter);
  if (!filter) return invocation.output.fail(filter.error());
  const auto state = state_of(options.filter);
  // Only dead messages have a reason.
  const std::vector<State> states = state                    ? std::vector{*state}
                                    : filter->reason.empty() ? alive_states()
                                                             : std::vector{State::dead};
  return run_on_all(invocation, {options.queue, *std::move(filter), states, std::move(action),
                                 options.dry_run, options.yes});
}

ExitCode cancel(Invocation& invocation, const KeysOptions& options) {
  if (const auto bad = bad_targets(options, "cancel")) return invocation.output.usage(*bad);
  if (options.filter.given()) return run_filtered(invocation, options, CancelAll{});
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const auto keys = views(options.keys);
  const auto answers = store->queue(options.queue).cancel(keys);
  if (!answers) return invocation.output.fail(answers.error());
  return print_answers(invocation.output, "key", options.keys, *answers);
}

/// The new time of the message with this key: its present due time plus `by`.
Result<Due> due_by(const Queue& queue, const std::string& key, Millis by) {
  const auto info = queue.get(key);
  if (!info) return info.error();
  const std::int64_t to = (info->due + by).time_since_epoch().count();
  if (to >= 0 && to <= base::kMaxTimeMs) return Due::at(Time(Millis(to)));
  return Error{ErrorCode::invalid_argument,
               fmt::format("--by {}: {} would fall outside the years from 1970 to 2200",
                           base::format_duration_ms(by.count()), base::quoted(key))};
}

/// Returns nothing if the time of a key is not known; then the reason has been printed.
std::optional<std::vector<Reschedule>> items_of(Invocation& invocation, const Queue& queue,
                                                const KeysOptions& options, ExitCode& code) {
  std::vector<Reschedule> items;
  std::optional<std::uint32_t> priority;
  if (options.priority) priority = static_cast<std::uint32_t>(*options.priority);
  for (const std::string& key : options.keys) {
    const auto due = options.by ? due_by(queue, key, *options.by) : Result<Due>(options.when.due());
    if (!due) {
      code = invocation.output.fail(due.error());
      return std::nullopt;
    }
    items.push_back({key, *due, priority});
  }
  return items;
}

ExitCode reschedule(Invocation& invocation, const KeysOptions& options) {
  if (const auto bad = bad_targets(options, "reschedule")) return invocation.output.usage(*bad);
  if (!options.when.given() && !options.by) {
    return invocation.output.usage("reschedule needs --in, --at or --by");
  }
  if (options.filter.given()) {
    if (options.priority) return invocation.output.usage("--priority goes with KEYs only");
    if (options.by) return run_filtered(invocation, options, MoveAllBy{*options.by});
    return run_filtered(invocation, options, MoveAllTo{options.when.due()});
  }
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(options.queue);
  const auto items = items_of(invocation, queue, options, code);
  if (!items) return code;
  const auto answers = queue.reschedule(*items);
  if (!answers) return invocation.output.fail(answers.error());
  return print_answers(invocation.output, "key", options.keys, *answers);
}

std::string headers_text(const Headers& headers) {
  std::string text;
  for (const Header& header : headers) {
    if (!text.empty()) text += "  ";
    text += header.name + "=" + header.value;
  }
  return text;
}

void print_sheet(Output& output, const MessageInfo& info) {
  Sheet sheet;
  sheet.add("key", info.key);
  sheet.add("queue", info.queue);
  sheet.add("id", std::to_string(info.id));
  sheet.add("state", state_text(info));
  if (info.paused) {
    sheet.add("queue paused", info.paused_until ? "until " + time_text(*info.paused_until) : "yes");
  }
  if (info.settlement) {
    sheet.add("settled", fmt::format("{} at {}", to_string(info.settlement->how),
                                     time_text(info.settlement->when)));
  } else {
    sheet.add("due", time_text(info.due));
    if (info.pushed) sheet.add("pushed", time_text(*info.pushed));
    if (info.expire_at) sheet.add("expires", time_text(*info.expire_at));
    sheet.add("priority", std::to_string(info.priority));
    sheet.add("attempt", std::to_string(info.attempt));
  }
  if (info.lease_left) sheet.add("lease left", base::format_duration_ms(info.lease_left->count()));
  if (!info.holder.empty()) sheet.add("holder", info.holder);
  if (!info.reason.empty()) sheet.add("reason", info.reason);
  if (info.kept_until) sheet.add("kept until", time_text(*info.kept_until));
  const Tallies& tallies = info.tallies;
  if (tallies.claims > 0) {
    sheet.add("tallies", fmt::format("claims {}, run-outs {}, releases {}, buries {}, revives {}",
                                     tallies.claims, tallies.run_outs, tallies.releases,
                                     tallies.buries, tallies.revives));
  }
  if (!info.headers.empty()) sheet.add("headers", headers_text(info.headers));
  if (info.state != State::remembered) sheet.add("payload", info.payload);
  output.print(sheet);
}

void write_results(wire::JsonWriter& json, const std::vector<std::string>& keys,
                   const std::vector<Result<MessageInfo>>& infos) {
  json.begin_object().name("results").begin_array();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    json.begin_object();
    if (infos[i]) {
      wire::write_message_info(json, *infos[i], wire::Payload::shown);
    } else {
      json.bytes_field("key", keys[i]);
      wire::write_error(json, infos[i].error());
    }
    json.end_object();
  }
  json.end_array().end_object();
}

ExitCode get(Invocation& invocation, const KeysOptions& options) {
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(options.queue);
  ExitCode worst_code = ExitCode::done;
  std::vector<Result<MessageInfo>> infos;
  bool first = true;
  for (const std::string& key : options.keys) {
    const auto& info = infos.emplace_back(queue.get(key));
    if (!info) {
      worst_code = worst(worst_code, exit_code(info.error().code));
      invocation.output.error(info.error());
    } else if (!invocation.output.json()) {
      if (!first) invocation.output.print_line("");
      print_sheet(invocation.output, *info);
      first = false;
    }
  }
  if (!invocation.output.json()) return worst_code;
  if (infos.size() > 1) {
    invocation.output.print_json(
        [&](wire::JsonWriter& json) { write_results(json, options.keys, infos); });
  } else if (infos.front()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object();
      wire::write_message_info(json, *infos.front(), wire::Payload::shown);
      json.end_object();
    });
  }
  return worst_code;
}

ExitCode list(Invocation& invocation, const ListingWords& words) {
  return print_messages(invocation, words, state_of(words.filter));
}

constexpr const char* kFilterHelp = R"(
Give KEYs, or flags that choose messages. A message must match every flag, and be
scheduled, ready or leased, or in the --state that is given. If the command is stopped
half-way, run it again to do the rest. The answer counts each outcome.
)";

constexpr const char* kByHelp =
    "--by moves each message from its own due time. Run again after a stop half-way, it moves\n"
    "some messages a second time, unless --due-between leaves out those that were moved.\n";

void add_targets(CLI::App& command, KeysOptions& options) {
  add_word(command, "QUEUE", options.queue, "The queue")->required();
  add_words(command, "KEY", options.keys, "Keys of messages");
  add_filter(command, options.filter);
  add_state(command, options.filter, false);
  command.add_flag("--dry-run", options.dry_run, "Only count the messages that the flags choose");
  command.add_flag("--yes", options.yes, "Confirm when the flags choose all messages of the queue");
}

}  // namespace

void add_message_commands(CLI::App& root, Invocation& invocation) {
  {
    const auto help = std::string(R"(
Cancel these messages

Once the answer is `cancelled`, no delivery of the message begins. At `stopping`, a
consumer has it: that delivery may finish, and no other begins.)") +
                      kFilterHelp + R"(
  tarry cancel orders order:42
  tarry cancel orders order:42 order:43 -o json
  tarry cancel orders --prefix customer:7: --header shop=eu --dry-run)";
    const auto [command, options] = add_command(root, invocation, "cancel", cancel, help);
    add_targets(command, options);
  }
  {
    const auto [command, options] = add_command(root, invocation, "get", get, R"(
Show everything that is known about these messages

  tarry get orders order:42)");
    add_word(command, "QUEUE", options.queue, "The queue")->required();
    add_words(command, "KEY", options.keys, "Keys of messages")->required();
  }
  {
    const auto help = std::string(R"(
Give these messages another due time; revives dead ones
)") + kFilterHelp + kByHelp +
                      R"(
  tarry reschedule orders order:42 --in 1h
  tarry reschedule orders order:42 --at 2030-01-31T09:00:00Z
  tarry reschedule orders --prefix customer:7: --in 1d
  tarry reschedule orders --due-between 1893456000000,1893477600000 --by 6h)";
    const auto [command, options] = add_command(root, invocation, "reschedule", reschedule, help);
    add_targets(command, options);
    add_by(command, options.by, add_when(command, options.when));
    add_number(command, "--priority", options.priority, 0, UINT32_MAX,
               "With KEYs only: another priority (default: unchanged)");
  }
  {
    const auto [command, words] = add_command(root, invocation, "ls", list, R"(
List the messages of a queue, in no defined order

  tarry ls orders
  tarry ls orders --state dead
  tarry ls orders --prefix order: --limit 1000)");
    add_listing_words(command, words, true);
  }
}

}  // namespace tarry::app
