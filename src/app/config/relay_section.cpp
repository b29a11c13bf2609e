#include "app/config/relay_section.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/relays/relay_coordination.h"
#include "base/text/text.h"
#include "core/limits.h"
#include "core/rules/queue_pattern.h"

namespace tarry::app::config {
namespace {

constexpr std::size_t kMaxRelayName = 64;
constexpr std::size_t kMaxRelays = 256;

/// Returns an empty list if the names are wrong.
std::vector<std::string> read_queues(Section& section) {
  const auto one = section.text("queue");
  auto several = section.texts("queues");
  if (one && several) {
    section.fail("queues", "cannot be given together with queue");
    return {};
  }
  if (one) several = std::vector{*one};
  if (!several || several->empty()) {
    section.fail("", "needs queue = \"NAME\" or queues = [\"NAME\", ...]");
    return {};
  }
  for (const std::string& pattern : *several) {
    const auto error = core::check_queue_pattern(pattern);
    if (!error) continue;
    section.fail(one ? "queue" : "queues", error->message);
    return {};
  }
  return *std::move(several);
}

void read_name(Section& section, RelayPlan& plan) {
  const auto name = section.text("name");
  if (!name) {
    if (plan.options.relay.queues.empty()) return;
    plan.options.name = plan.options.relay.queues.front().substr(0, kMaxRelayName);
    return;
  }
  const bool clean = std::ranges::all_of(*name, [](char c) { return c > ' ' && c < '\x7f'; });
  if (name->size() > kMaxRelayName || !clean) {
    section.fail("name", fmt::format("{} must be 1 to {} characters of ASCII, without spaces",
                                     base::quoted(*name), kMaxRelayName));
  }
  plan.options.name = *name;
}

std::optional<std::uint32_t> number(Section& section, std::string_view key, std::uint64_t min,
                                    std::uint64_t max) {
  const auto value = section.count(key, min, max);
  if (!value) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

// Reports keys that only commands may have, and keys that a command lacks.
void check_command(Section& section, const RelayPlan& plan, bool has_concurrency) {
  const bool is_command = plan.runs_command();
  if (is_command && plan.command.empty()) {
    section.fail("command", "is missing: command = [\"PROGRAM\", \"ARGUMENT\", ...]");
  }
  if (is_command) return;
  if (!plan.command.empty()) section.fail("command", "needs to = \"command\"");
  if (has_concurrency) section.fail("concurrency", "needs to = \"command\"");
}

RelayPlan read_plan(Section& section) {
  RelayPlan plan;
  plan.line = section.line();
  relay::RelayOptions& options = plan.options.relay;
  options.queues = read_queues(section);
  read_name(section, plan);
  plan.to = section.text("to").value_or("");
  plan.command = section.texts("command").value_or(std::vector<std::string>());
  const auto concurrency = number(section, "concurrency", 1, relay::kMaxCommands);
  plan.concurrency = concurrency.value_or(1);
  plan.options.threads = number(section, "threads", 1, relay::kMaxThreads).value_or(1);
  options.in_flight = in_flight_of(plan, section.count("in_flight", 1, relay::kMaxInFlight));
  options.batch = number(section, "batch", 1, core::kMaxBatch).value_or(options.batch);
  options.rate = number(section, "rate", 1, relay::kMaxRate).value_or(options.rate);
  options.max_attempts = number(section, "max_attempts", 1, core::kMaxAttempts);
  options.lease = section.duration("lease", Millis(1), Millis(core::kMaxLeaseMs));
  options.drain =
      section.duration("drain", Millis(0), std::chrono::hours(1)).value_or(options.drain);
  plan.coordination = section.text("coordination").value_or(plan.coordination);
  plan.session =
      section.duration("session", relay::kLeastSession, relay::kMostSession).value_or(plan.session);
  section.finish();
  if (!plan.to.empty()) check_command(section, plan, concurrency.has_value());
  return plan;
}

// Two patterns of the relays that overlap; nothing if none do.
std::optional<std::pair<std::string, std::string>> common(const RelayPlan& a, const RelayPlan& b) {
  for (const std::string& one : a.options.relay.queues) {
    for (const std::string& other : b.options.relay.queues) {
      if (core::overlap(one, other)) return std::pair(one, other);
    }
  }
  return std::nullopt;
}

void compare(Section& section, const RelayPlan& plan, const RelayPlan& before) {
  if (plan.options.name == before.options.name) {
    section.fail("name",
                 fmt::format("{} is the name of the relay in line {} already; choose another",
                             base::quoted(plan.options.name), before.line));
  }
  if (plan.writes_stdout() && before.writes_stdout()) {
    section.fail(
        "to",
        fmt::format("the relay in line {} writes to stdout already: their lines would be mixed up",
                    before.line));
    return;
  }
  if (plan.to == before.to && plan.command == before.command) return;
  if (const auto both = common(plan, before)) {
    section.fail(
        "",
        fmt::format("its queue {} can be the same as queue {} of the relay in line {}, but the "
                    "sinks are written differently: each message would go to one of them by chance",
                    base::quoted(both->first), base::quoted(both->second), before.line));
  }
}

}  // namespace

std::vector<RelayPlan> read_relays(Section& whole) {
  std::vector<RelayPlan> plans;
  for (Section& section : whole.sections("relay")) {
    RelayPlan plan = read_plan(section);
    if (plan.to.empty()) {
      section.fail("to", "is missing; it names the sink, like --to of tarry relay");
    } else if (plan.command.empty() == plan.runs_command()) {
      // Reported already, by check_command.
    } else if (const auto sink = check_sink(plan); !sink) {
      section.fail("to", sink.error().message);
    }
    if (!plan.options.relay.queues.empty()) {
      if (const auto good = check_numbers(plan); !good) section.fail("", good.error().message);
    }
    if (const auto good = check_coordination(plan, ""); !good) {
      section.fail("coordination", good.error().message);
    }
    for (const RelayPlan& before : plans) compare(section, plan, before);
    plans.push_back(std::move(plan));
    if (plans.size() > kMaxRelays) {
      section.fail("", fmt::format("is too much: at most {} relays", kMaxRelays));
      break;
    }
  }
  return plans;
}

}  // namespace tarry::app::config
