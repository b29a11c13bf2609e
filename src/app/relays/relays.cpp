#include "app/relays/relays.h"

#include <utility>

#include <fmt/format.h>

#include "app/relays/relay_coordination.h"
#include "base/text/text.h"

namespace tarry::app {
namespace {

// A relay from flags needs no name in messages, because it is the only one.
std::string prefix_of(const RelayPlan& plan) {
  return plan.line == 0 ? "" : fmt::format("relay {}: ", base::quoted(plan.options.name));
}

std::string line_on_queues(const RelayPlan& plan, std::size_t count) {
  if (count > 0)
    return fmt::format("{} {} now", count, count == 1 ? "queue matches" : "queues match");
  return fmt::format("no queue matches {}; looking again every {}",
                     fmt::join(plan.options.relay.queues, ", "),
                     base::format_duration_ms(relay::kLookEvery.count()));
}

std::string_view code_of(relay::Mishap mishap) {
  switch (mishap) {
    case relay::Mishap::failed: return "deliveries_fail";
    case relay::Mishap::refused: return "deliveries_refused";
    case relay::Mishap::unsettled: break;
  }
  return "not_settled";
}

std::string line_on_mishap(relay::Mishap mishap, const std::string& title,
                           const std::string& reason) {
  const std::string_view why = base::without_prefix(reason, title + ": ");
  switch (mishap) {
    case relay::Mishap::failed:
      return fmt::format(
          "{}: messages fail, and are tried again after their queue's backoff; the last error: {}",
          title, why);
    case relay::Mishap::refused:
      return fmt::format("{}: messages are refused for good; the last error: {}", title, why);
    case relay::Mishap::unsettled: break;
  }
  return not_settled_line(reason);
}

std::string line_on_view(const relay::Coordination::View& view, std::size_t units) {
  return fmt::format("{} of {} shards are its own; {} {} them", view.mine.size(), units,
                     view.members, view.members == 1 ? "relay has" : "relays share");
}

std::string line_on_trouble(const std::string& title, const std::optional<Error>& error) {
  if (!error) return fmt::format("coordination: {} is back", title);
  return fmt::format(
      "coordination: {} cannot be reached: {}; the relay keeps the shards that it has; if it was "
      "never given any, it takes all once a session has passed",
      title, error->message);
}

}  // namespace

std::string not_settled_line(std::string_view reason) {
  return fmt::format(
      "messages cannot be settled in the store; they are delivered again after their lease; the "
      "last error: {}",
      reason);
}

Result<std::unique_ptr<Relays>> Relays::make(core::Engine& engine, std::string_view store,
                                             const std::vector<RelayPlan>& plans, Hooks hooks,
                                             const relay::ChildOptions& children) {
  auto relays = std::unique_ptr<Relays>(new Relays(std::move(hooks)));
  for (const RelayPlan& plan : plans) {
    if (auto added = relays->add(engine, store, plan, children); !added)
      return std::move(added).error();
  }
  return Result<std::unique_ptr<Relays>>(std::move(relays));
}

Result<void> Relays::add(core::Engine& engine, std::string_view store, const RelayPlan& plan,
                         const relay::ChildOptions& children) {
  const std::string prefix = prefix_of(plan);
  const auto on_broken = [this, prefix](Error error) {
    error.message.insert(0, prefix);
    hooks_.failed(error);
  };
  const auto make = [plan, on_broken, children] {
    return make_sink(plan.wish(on_broken, children));
  };
  const auto title = std::make_shared<std::string>();
  relay::RelayThreads::Hooks hooks;
  hooks.on_breaker = [this, prefix, title](bool open, const std::string& why) {
    if (!open) return hooks_.log({LogLevel::info, "sink_back", prefix + *title + " is back"});
    hooks_.log({LogLevel::warning, "sink_down",
                prefix + fmt::format("{} is down: {}; the relay claims nothing until it is back",
                                     *title, base::without_prefix(why, *title + ": "))});
  };
  hooks.on_outage = [this, prefix](const std::optional<Error>& outage) {
    if (!outage) return hooks_.log({LogLevel::info, "store_back", prefix + "the store is back"});
    hooks_.log({LogLevel::warning, "store_away", prefix + outage->message + "; trying again"});
  };
  hooks.on_mishap = [this, prefix, title](relay::Mishap mishap, const std::string& reason) {
    hooks_.log(
        {LogLevel::warning, code_of(mishap), prefix + line_on_mishap(mishap, *title, reason)});
  };
  hooks.on_queues = [this, prefix, plan](std::size_t count) {
    const std::string line = prefix + line_on_queues(plan, count);
    if (count > 0) return hooks_.log({LogLevel::info, "relay_queues", line});
    hooks_.log({LogLevel::warning, "relay_no_queues", line});
  };
  if (plan.options.relay.max_attempts && !engine.capabilities().dead) {
    return Error{
        ErrorCode::unsupported,
        prefix + fmt::format("max_attempts {}: this store, {}, keeps no dead messages",
                             *plan.options.relay.max_attempts, engine.capabilities().keeper())};
  }
  auto coordination = make_coordination(plan, {store, engine.capabilities().store});
  if (!coordination) return std::move(coordination).error();
  hooks.on_view = [this, prefix](const relay::Coordination::View& view, std::size_t units) {
    hooks_.log({LogLevel::info, "relay_share", prefix + line_on_view(view, units)});
  };
  const std::string coordinator = *coordination ? (*coordination)->title() : "";
  hooks.on_trouble = [this, prefix, coordinator](const std::optional<Error>& error) {
    const std::string line = prefix + line_on_trouble(coordinator, error);
    if (!error) return hooks_.log({LogLevel::info, "coordination_back", line});
    hooks_.log({LogLevel::warning, "coordination_down", line});
  };
  hooks.on_end = [this, prefix](const Result<void>& how) { ended(prefix, how); };
  auto threads = relay::RelayThreads::make(engine, plan.options, make, std::move(hooks),
                                           *std::move(coordination));
  if (!threads) return std::move(threads).error();
  *title = (*threads)->title();
  relays_.push_back(*std::move(threads));
  return {};
}

void Relays::start() {
  running_ = relays_.size();
  for (const auto& threads : relays_) threads->start();
  if (relays_.empty() && hooks_.ended) hooks_.ended();
}

void Relays::stop() {
  for (const auto& threads : relays_) threads->stop();
}

void Relays::abandon() {
  for (const auto& threads : relays_) threads->abandon();
}

std::vector<Relays::Named> Relays::stats() const {
  std::vector<Named> all;
  for (const auto& threads : relays_)
    all.push_back({threads->name(), threads->stats(), threads->is_up()});
  return all;
}

void Relays::ended(const std::string& prefix, const Result<void>& how) {
  if (!how) {
    Error error = how.error();
    error.message.insert(0, prefix);
    hooks_.failed(error);
  }
  const std::lock_guard lock(mutex_);
  if (--running_ == 0 && hooks_.ended) hooks_.ended();
}

}  // namespace tarry::app
