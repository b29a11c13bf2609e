#include "app/commands/messages/bulk_verbs.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/commands/messages/key_pages.h"
#include "app/output/progress.h"
#include "app/system/signals.h"
#include "app/transfer/told_keys.h"
#include "base/text/text.h"

namespace tarry::app {
namespace {

bool is_of_the_dead(const BulkVerb& verb) { return verb.states == std::vector{State::dead}; }

std::string_view name_of(const BulkVerb& verb) {
  if (std::holds_alternative<ReviveAll>(verb.action)) return "reviving";
  if (!std::holds_alternative<CancelAll>(verb.action)) return "rescheduling";
  return is_of_the_dead(verb) ? "removing" : "cancelling";
}

std::string_view everything(const BulkVerb& verb) {
  return is_of_the_dead(verb) ? "every dead message" : "every message";
}

/// Whether the verb needs a confirmation, because it matches at least one message and the filter
/// excludes no live message (for a verb that removes dead messages: no dead one). Usually one page
/// is enough to tell.
Result<bool> matches_everything(const Queue& queue, const BulkVerb& verb) {
  const bool dead = is_of_the_dead(verb);
  if (dead && !std::holds_alternative<CancelAll>(verb.action)) return false;  // no message is lost
  if (!verb.filter.narrows()) return true;
  const std::vector<State> states = dead ? verb.states : alive_states();
  bool other = false;
  bool any = false;
  const Error found(ErrorCode::misuse, "");  // ends the paging
  auto error = each_page(queue, states, {}, [&](const auto& page) -> std::optional<Error> {
    any = true;
    other = !std::ranges::all_of(
        page, [&](const MessageInfo& info) { return core::matches(verb.filter, info); });
    return other ? std::optional<Error>(found) : std::nullopt;
  });
  if (error && !other) return *std::move(error);
  return any && !other;
}

struct Count {
  std::string what;
  std::uint64_t count = 0;
};

std::vector<Count> counts_of(const OutcomeTally& tally) {
  std::vector<Count> counts;
  for (const Outcome outcome :
       {Outcome::cancelled, Outcome::rescheduled, Outcome::stopping, Outcome::in_flight,
        Outcome::revived, Outcome::settled, Outcome::unknown}) {
    if (tally.count(outcome) > 0) {
      counts.push_back({std::string(to_string(outcome)), tally.count(outcome)});
    }
  }
  if (tally.failed() > 0) counts.push_back({"failed", tally.failed()});
  return counts;
}

void print_counts(Output& output, const BulkVerb& verb, std::uint64_t matched,
                  const std::vector<Count>& counts) {
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("queue", verb.queue).bytes_field("prefix", verb.filter.prefix);
      json.field_bool("dry_run", verb.dry_run).field("matched", matched);
      json.name("outcomes").begin_object();
      for (const Count& each : counts) json.field(each.what, each.count);
      json.end_object().end_object();
    });
    return;
  }
  Table table({{"OUTCOME"}, {"MESSAGES", true}});
  for (const Count& each : counts) table.add({each.what, grouped(each.count)});
  if (counts.empty()) table.add({verb.dry_run ? "would match" : "matched", grouped(matched)});
  output.print(table);
}

/// Applies the verb to one page after another, and counts. In a listing by due time a rescheduled
/// message appears again, so the keys of handled messages are recorded.
class Bulk {
 public:
  Bulk(const Queue& queue, const BulkVerb& verb) : queue_(queue), verb_(verb) {}

  std::optional<Error> apply(std::vector<MessageInfo> page) {
    looked_ += page.size();
    ToldKeys here;
    std::erase_if(page, [&](const MessageInfo& info) {
      return !core::matches(verb_.filter, info) || done_.contains(info.key) ||
             !here.insert(info.key);
    });
    if (page.empty()) return std::nullopt;
    if (verb_.dry_run) {
      for (const MessageInfo& info : page) done_.insert(info.key);
      matched_ += page.size();
      return std::nullopt;
    }
    return std::visit([&](const auto& action) { return act(action, std::move(page)); },
                      verb_.action);
  }

  [[nodiscard]] const OutcomeTally& tally() const noexcept { return tally_; }
  [[nodiscard]] std::uint64_t matched() const noexcept { return matched_; }
  [[nodiscard]] std::uint64_t looked() const noexcept { return looked_; }

 private:
  std::optional<Error> act(const CancelAll&, std::vector<MessageInfo> page) {
    return count(queue_.cancel(keys_of(page)), page);
  }

  std::optional<Error> act(const ReviveAll&, std::vector<MessageInfo> page) {
    const auto revived = queue_.revive(keys_of(page));
    if (!revived) return revived.error();
    matched_ += page.size();
    for (const MessageInfo& info : page) done_.insert(info.key);
    tally_.add(Outcome::revived, *revived);
    tally_.add(Outcome::unknown, page.size() - std::min<std::uint64_t>(page.size(), *revived));
    return std::nullopt;
  }

  std::optional<Error> act(const MoveAllBy& action, std::vector<MessageInfo> page) {
    std::vector<Reschedule> items;
    items.reserve(page.size());
    for (const MessageInfo& info : page) {
      const std::int64_t to = (info.due + action.by).time_since_epoch().count();
      const Time within(Millis(std::clamp<std::int64_t>(to, 0, base::kMaxTimeMs)));
      items.push_back({info.key, Due::at(within), {}});
    }
    return count(queue_.reschedule(items), page);
  }

  // All messages get the same time: the one that the first rescheduled message got, because a
  // layout may round it up. Messages that have this time already are skipped, so the command ends,
  // and can be run again.
  std::optional<Error> act(const MoveAllTo& action, std::vector<MessageInfo> page) {
    if (!told_) {
      if (auto error = find_time(action.due, page)) return error;
      if (!told_) return std::nullopt;
    }
    std::erase_if(page, [&](const MessageInfo& info) { return info.due == *told_; });
    if (page.empty()) return std::nullopt;
    std::vector<Reschedule> items;
    items.reserve(page.size());
    for (const MessageInfo& info : page) items.push_back({info.key, Due::at(*told_), {}});
    return count(queue_.reschedule(items), page);
  }

  /// Reschedules messages one after the other until an answer contains the new time. These messages
  /// are removed from the page.
  std::optional<Error> find_time(const Due& due, std::vector<MessageInfo>& page) {
    for (std::size_t i = 0; i < page.size(); ++i) {
      if (!due.is_relative() && page[i].due == Time(Millis(due.millis()))) continue;
      const Reschedule item{page[i].key, due, {}};
      const auto answers = queue_.reschedule({&item, 1});
      if (auto error = count(answers, {page[i]})) return error;
      const Result<Answer>& answer = answers->front();
      // The answer for a leased message contains its former time.
      const bool moved = answer && (answer->outcome == Outcome::rescheduled ||
                                    answer->outcome == Outcome::revived);
      if (!moved || !answer->due) continue;
      told_ = *answer->due;
      page.erase(page.begin(), page.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      break;
    }
    return std::nullopt;
  }

  std::optional<Error> count(const Result<std::vector<Result<Answer>>>& answers,
                             const std::vector<MessageInfo>& page) {
    if (!answers) return answers.error();
    matched_ += page.size();
    tally_.add(*answers);
    for (std::size_t i = 0; i < page.size(); ++i) {
      const Result<Answer>& answer = (*answers)[i];
      // A later pass may find it again.
      if (!answer || answer->outcome == Outcome::in_flight) continue;
      done_.insert(page[i].key);
    }
    return std::nullopt;
  }

  const Queue& queue_;
  const BulkVerb& verb_;
  std::optional<Time> told_;  // MoveAllTo: the time that the store has chosen
  ToldKeys done_;
  OutcomeTally tally_;
  std::uint64_t matched_ = 0;
  std::uint64_t looked_ = 0;
};

std::uint64_t size_of(const QueueStats& stats, const std::vector<State>& states) {
  std::uint64_t size = 0;
  for (const State state : states) {
    if (state == State::scheduled) size += stats.scheduled;
    if (state == State::ready) size += stats.ready;
    if (state == State::leased) size += stats.leased;
    if (state == State::dead) size += stats.dead;
  }
  return size;
}

/// The states to visit, in order. The last passes visit again the states that a message may have
/// entered meanwhile, for example if a worker released it.
std::vector<State> passes_of(const BulkVerb& verb) {
  std::vector<State> passes = verb.states;
  const bool all = verb.states == alive_states();
  if (all && !verb.dry_run) passes.insert(passes.end(), {State::scheduled, State::ready});
  return passes;
}

std::string what_matches(const core::MessageFilter& filter) {
  const bool by_prefix = !filter.due_from && !filter.due_to && filter.headers.empty();
  return by_prefix && filter.reason.empty() ? "--prefix " + base::quoted(filter.prefix) : "this";
}

ExitCode run_pages(Invocation& invocation, const BulkVerb& verb, const Queue& queue,
                   std::uint64_t total) {
  Output& output = invocation.output;
  Progress progress(name_of(verb), stderr, output.err());
  Bulk bulk(queue, verb);
  std::atomic<bool> stopped = false;
  const SignalWatch watch([&stopped](int) { stopped = true; });
  const auto error = each_page(
      queue, passes_of(verb), verb.filter.prefix, [&](const auto& page) -> std::optional<Error> {
        if (auto failed = bulk.apply(page)) return failed;
        progress.show(std::min(bulk.looked(), total), total, bulk.matched(), "messages");
        if (!stopped) return std::nullopt;
        return Error(ErrorCode::closed, "stopped by a signal: only part of the work is done");
      });
  const OutcomeTally& tally = bulk.tally();
  progress.clear();
  if (tally.error()) output.error(*tally.error());
  if (error) output.error(*error);
  // Work done before an error counts, and is reported.
  print_counts(output, verb, bulk.matched(), counts_of(tally));
  if (!error) return tally.code();
  const ExitCode code = stopped ? ExitCode::failed : exit_code(error->code);
  return worst(code, tally.code());
}

}  // namespace

const std::vector<State>& alive_states() {
  static const std::vector<State> kAlive{State::scheduled, State::ready, State::leased};
  return kAlive;
}

ExitCode run_on_all(Invocation& invocation, const BulkVerb& verb) {
  Output& output = invocation.output;
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  const Queue queue = store->queue(verb.queue);
  const auto stats = queue.stats();  // a mistyped name must not be answered with "nothing matched"
  if (!stats) return output.fail(stats.error());
  bool needs_yes = false;
  if (!verb.yes) {
    const auto all = matches_everything(queue, verb);
    if (!all) return output.fail(all.error());
    needs_yes = *all;
    if (needs_yes && !verb.dry_run) {
      return output.usage(
          fmt::format("{} matches {} of queue {}; confirm with --yes, or count with --dry-run",
                      what_matches(verb.filter), everything(verb), base::quoted(verb.queue)));
    }
  }
  code = run_pages(invocation, verb, queue, size_of(*stats, verb.states));
  if (needs_yes) {
    output.note(fmt::format("That is {} of the queue: without --dry-run it needs --yes.",
                            everything(verb)));
  }
  return code;
}

}  // namespace tarry::app
