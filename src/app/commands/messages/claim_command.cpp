// tarry claim: takes due messages under a lease, and prints them with their receipts.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "app/command_line/command.h"
#include "app/commands/commands.h"
#include "app/output/json.h"
#include "app/output/progress.h"
#include "base/text/text.h"
#include "core/engine.h"
#include "core/limits.h"

namespace tarry::app {
namespace {

struct ClaimWords {
  std::vector<std::string> queues;
  std::optional<std::uint64_t> max;
  std::optional<std::uint64_t> max_bytes;
  std::optional<Millis> lease;
  std::optional<Millis> wait;
};

// Says why no message was claimed: a missing queue must not look like an empty one.
std::string empty_text(const std::string& name, const Result<QueueStats>& stats, bool all_counted) {
  if (!stats) {
    return stats.error().code == ErrorCode::not_found ? fmt::format("There is no queue {}.", name)
                                                      : "Nothing is due.";
  }
  std::string holds;
  for (const auto& [count, state] :
       {std::pair(stats->scheduled, "scheduled"), std::pair(stats->ready, "ready"),
        std::pair(stats->leased, "leased"), std::pair(stats->dead, "dead")}) {
    if (count == 0) continue;
    holds += fmt::format("{}{} {}", holds.empty() ? "" : ", ", grouped(count), state);
  }
  if (holds.empty() && !all_counted) return fmt::format("Nothing is due in queue {}.", name);
  if (holds.empty()) holds = "it is empty";
  if (!stats->paused) return fmt::format("Nothing is due in queue {}: {}.", name, holds);
  return fmt::format("Queue {} is paused{}: {}.", name,
                     stats->paused_until ? " until " + time_text(*stats->paused_until) : "", holds);
}

void print_table(Output& output, const std::vector<Delivery>& deliveries, bool name_queues) {
  std::vector<Column> columns{{"KEY", false, true},     {"ID", true},
                              {"ATTEMPT", true},        {"LATE", true},
                              {"PAYLOAD", false, true}, {"RECEIPT", false, false, true}};
  if (name_queues) columns.insert(columns.begin(), {"QUEUE", false, true});
  Table table(std::move(columns));
  for (const Delivery& delivery : deliveries) {
    const std::string id = std::to_string(delivery.id());
    const std::string attempt = std::to_string(delivery.attempt());
    const std::string late = base::format_duration_ms(delivery.lateness().count());
    std::vector<std::string_view> cells{delivery.key(),    id, attempt, late, delivery.payload(),
                                        delivery.receipt()};
    if (name_queues) cells.insert(cells.begin(), delivery.queue());
    table.add(cells);
  }
  output.print(table);
}

// Claims again if a server ends the waiting claim with `unavailable` because it shuts down. If the
// next server starts soon, it gets the rest of the wait.
Result<std::vector<Delivery>> claim_for_all_of_the_wait(const Store& store,
                                                        const std::vector<std::string_view>& queues,
                                                        ClaimOptions options) {
  constexpr Millis kPause{100};
  constexpr Millis kRestart{5'000};
  if (store.engine().capabilities().manual_clock) return store.claim(queues, options);
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + options.wait;
  std::optional<Clock::time_point> away_since;
  for (;;) {
    auto deliveries = store.claim(queues, options);
    const auto now = Clock::now();
    const bool away = !deliveries && deliveries.error().code == ErrorCode::unavailable;
    if (away ? now - away_since.value_or(now) > kRestart : !deliveries || !deliveries->empty()) {
      return deliveries;
    }
    away_since = away ? std::optional(away_since.value_or(now)) : std::nullopt;
    const auto left = std::chrono::floor<Millis>(end - now);
    if (left <= Millis{0}) return deliveries;
    std::this_thread::sleep_for(std::min(left, kPause));
    options.wait = std::max(left - kPause, Millis{0});
  }
}

void print_deliveries(Invocation& invocation, const Store& store, const ClaimWords& words,
                      const std::vector<Delivery>& deliveries) {
  if (invocation.output.json()) {
    invocation.output.print_json([&](wire::JsonWriter& json) {
      json.begin_object().name("messages").begin_array();
      for (const Delivery& delivery : deliveries) {
        json.begin_object();
        write_fields(json, delivery);
        json.end_object();
      }
      json.end_array().end_object();
    });
  } else if (deliveries.empty()) {
    const bool all_counted = store.engine().capabilities().counts_scheduled;
    for (const std::string& name : words.queues) {
      invocation.output.note(empty_text(name, store.queue(name).stats(), all_counted));
    }
  } else {
    print_table(invocation.output, deliveries, words.queues.size() > 1);
  }
}

// Releases messages that could not be printed: without the printed receipt nobody can settle them,
// and they would wait for the end of their leases.
void give_back(Output& output, const Store& store, const std::vector<Delivery>& deliveries) {
  std::vector<Settle> items;
  for (const Delivery& delivery : deliveries) {
    Settle& item = items.emplace_back();
    item.receipt = delivery.receipt();
    item.action = tarry::Action::release;
  }
  const auto answers = store.settle(items);
  const auto is_done = [](const Result<Answer>& answer) {
    return answer && answer->outcome == Outcome::done;
  };
  const auto released =
      answers ? static_cast<std::size_t>(std::ranges::count_if(*answers, is_done)) : 0;
  output.tell(fmt::format("{} claimed and could not be printed; released again: {}",
                          counted(items.size(), "message"), grouped(released)));
  if (!answers) output.error(answers.error());
}

ExitCode claim(Invocation& invocation, const ClaimWords& words) {
  // If the reader of the output goes away, this process must live on, to release the messages.
  std::signal(SIGPIPE, SIG_IGN);
  ExitCode code{};
  auto store = invocation.open(code);
  if (!store) return code;
  if (!store->engine().capabilities().claims_outlive) {
    return invocation.output.fail(
        {ErrorCode::unsupported,
         "claim: on RabbitMQ a claim ends with its connection, and so with this command; run tarry "
         "work, or run tarry serve and claim from it with --store http://HOST:PORT"});
  }
  ClaimOptions options;
  if (words.max) options.max = static_cast<std::uint32_t>(*words.max);
  options.max_bytes = words.max_bytes.value_or(options.max_bytes);
  options.lease = words.lease;
  options.wait = words.wait.value_or(Millis{0});
  const std::vector<std::string_view> queues(words.queues.begin(), words.queues.end());
  const auto deliveries = claim_for_all_of_the_wait(*store, queues, options);
  if (!deliveries) return invocation.output.fail(deliveries.error());
  print_deliveries(invocation, *store, words, *deliveries);
  if (!deliveries->empty() && !Output::flush()) give_back(invocation.output, *store, *deliveries);
  return ExitCode::done;
}

}  // namespace

void add_claim_command(CLI::App& root, Invocation& invocation) {
  const auto [command, words] = add_command(root, invocation, "claim", claim, R"(
Claim due messages under a lease; settle each by its receipt

  tarry claim orders
  tarry claim orders --wait 1m
  tarry claim orders mails --max 100 --lease 5m -o json)");
  add_words(command, "QUEUE", words.queues, "One or more queues")->required();
  add_number(command, "--max", words.max, 1, core::kMaxBatch, "At most N messages (default: 1)");
  add_number(command, "--max-bytes", words.max_bytes, 1, core::kMaxClaimBytes,
             "Stop at N bytes of payload; at least one message is always\n"
             "returned (default: 64 MiB)");
  add_duration(command, "--lease", words.lease, "Length of the lease (default: the queue's)");
  add_duration(command, "--wait", words.wait,
               "How long to wait for a message to fall due, up to 1h (default: 0s)");
}

}  // namespace tarry::app
