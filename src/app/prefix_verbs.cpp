#include "app/prefix_verbs.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/key_pages.h"
#include "app/progress.h"
#include "app/told_keys.h"
#include "base/text.h"

namespace tarry::app {
namespace {

const std::vector<State> kAlive{State::scheduled, State::ready, State::leased};
// What a worker held while the first were looked through, and gave back before it was its turn.
const std::vector<State> kAliveAgain{State::scheduled, State::ready, State::leased,
                                     State::scheduled, State::ready};

/// Whether there is something, and nothing that the prefix does not match. Mostly one page answers.
Result<bool> matches_everything(const Queue& queue, const std::string& prefix) {
  if (prefix.empty()) return true;
  bool other = false;
  bool any = false;
  const Error found(ErrorCode::misuse, "");  // ends the paging
  auto error = each_page(queue, kAlive, {}, [&](const auto& page) -> std::optional<Error> {
    any = true;
    for (const MessageInfo& info : page) other = other || !info.key.starts_with(prefix);
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

void print_counts(Output& output, const PrefixVerb& verb, std::uint64_t matched,
                  const std::vector<Count>& counts) {
  if (output.json()) {
    output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().text_field("queue", verb.queue).bytes_field("prefix", verb.prefix);
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

// What is rescheduled comes up again in a listing that goes by due time. So all get the same time,
// the one that the first rescheduled one's answer tells (a layout may round it up), and what has it
// already is passed over: it ends.
class Prefixed {
 public:
  Prefixed(const Queue& queue, const PrefixVerb& verb) : queue_(queue), due_(verb.due) {}

  std::optional<Error> apply(std::vector<MessageInfo> page) {
    ToldKeys here;
    std::erase_if(page, [&](const MessageInfo& info) {
      return done_.contains(info.key) || !here.insert(info.key);
    });
    if (page.empty()) return std::nullopt;
    if (!due_) return count(queue_.cancel(keys_of(page)), keys_of(page));
    if (!told_) {
      for (std::size_t i = 0; i < page.size(); ++i) {
        if (!due_->is_relative() && page[i].due == Time(Millis(due_->millis()))) continue;
        const Reschedule item{page[i].key, *due_, {}};
        const auto answers = queue_.reschedule({&item, 1});
        if (auto error = count(answers, {page[i].key})) return error;
        const Result<Answer>& answer = answers->front();
        // One that is in flight tells the time it had before.
        const bool moved = answer && (answer->outcome == Outcome::rescheduled ||
                                      answer->outcome == Outcome::revived);
        if (!moved || !answer->due) continue;
        told_ = *answer->due;
        page.erase(page.begin(), page.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        break;
      }
      if (!told_) return std::nullopt;
    }
    std::erase_if(page, [&](const MessageInfo& info) { return info.due == *told_; });
    if (page.empty()) return std::nullopt;
    std::vector<Reschedule> items;
    items.reserve(page.size());
    for (const MessageInfo& info : page) items.push_back({info.key, Due::at(*told_), {}});
    return count(queue_.reschedule(items), keys_of(page));
  }

  [[nodiscard]] const OutcomeTally& tally() const noexcept { return tally_; }
  [[nodiscard]] std::uint64_t matched() const noexcept { return matched_; }

 private:
  std::optional<Error> count(const Result<std::vector<Result<Answer>>>& answers,
                             const std::vector<std::string_view>& keys) {
    if (!answers) return answers.error();
    matched_ += keys.size();
    tally_.add(*answers);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const Result<Answer>& answer = (*answers)[i];
      if (!answer || answer->outcome == Outcome::in_flight) continue;  // it may come again
      done_.insert(keys[i]);
    }
    return std::nullopt;
  }

  const Queue& queue_;
  std::optional<Due> due_;    // empty: cancel
  std::optional<Time> told_;  // what it became
  ToldKeys done_;             // that a queue which gets other shards may list once more
  OutcomeTally tally_;
  std::uint64_t matched_ = 0;
};

}  // namespace

ExitCode run_on_prefix(Session& session, const PrefixVerb& verb) {
  Output& output = session.output;
  ExitCode code{};
  auto store = session.open(code);
  if (!store) return code;
  const Queue queue = store->queue(verb.queue);
  const auto stats = queue.stats();  // a name that was mistyped is not "nothing matched"
  if (!stats) return output.fail(stats.error());
  bool needs_yes = false;
  if (!verb.yes) {
    const auto all = matches_everything(queue, verb.prefix);
    if (!all) return output.fail(all.error());
    needs_yes = *all;
    if (needs_yes && !verb.dry_run) {
      return output.usage(fmt::format(
          "--prefix {} matches every message of queue {}; confirm with --yes, or count with "
          "--dry-run",
          base::quoted(verb.prefix), base::quoted(verb.queue)));
    }
  }
  Progress progress(verb.due ? "rescheduling" : "cancelling", stderr, output.err());
  Prefixed prefixed(queue, verb);
  std::uint64_t counted = 0;
  const auto error = each_page(queue, verb.dry_run ? kAlive : kAliveAgain, verb.prefix,
                               [&](const auto& page) -> std::optional<Error> {
                                 if (verb.dry_run) {
                                   counted += page.size();
                                 } else if (auto failed = prefixed.apply(page)) {
                                   return failed;
                                 }
                                 const std::uint64_t so_far = counted + prefixed.matched();
                                 progress.show(0, 0, so_far, "messages");
                                 return std::nullopt;
                               });
  const OutcomeTally& tally = prefixed.tally();
  progress.clear();
  if (tally.error()) output.error(*tally.error());
  if (error) output.error(*error);
  // What was done before an error counts, and is told.
  print_counts(output, verb, counted + prefixed.matched(), counts_of(tally));
  if (needs_yes)
    output.note("That is every message of the queue: without --dry-run it needs --yes.");
  return error ? worst(exit_code(error->code), tally.code()) : tally.code();
}

}  // namespace tarry::app
