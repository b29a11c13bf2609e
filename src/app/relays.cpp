#include "app/relays.h"

#include <utility>

#include <fmt/format.h>

#include "base/text.h"

namespace tarry::app {
namespace {

// One that flags name is the only one.
std::string prefix_of(const RelayPlan& plan) {
  return plan.line == 0 ? "" : fmt::format("relay {}: ", base::quoted(plan.crew.name));
}

std::string line_on_queues(const RelayPlan& plan, std::size_t count) {
  if (count > 0)
    return fmt::format("{} {} now", count, count == 1 ? "queue matches" : "queues match");
  return fmt::format("no queue matches {}; it looks again every {}",
                     fmt::join(plan.crew.relay.queues, ", "),
                     base::format_duration_ms(relay::kFindQueuesEvery.count()));
}

}  // namespace

Result<std::unique_ptr<Relays>> Relays::make(core::Engine& engine,
                                             const std::vector<RelayPlan>& plans, Hooks hooks) {
  auto relays = std::unique_ptr<Relays>(new Relays(std::move(hooks)));
  for (const RelayPlan& plan : plans) {
    if (auto added = relays->add(engine, plan); !added) return std::move(added).error();
  }
  return Result<std::unique_ptr<Relays>>(std::move(relays));
}

Result<void> Relays::add(core::Engine& engine, const RelayPlan& plan) {
  const std::string prefix = prefix_of(plan);
  const auto make = [this, plan, prefix] {
    return make_sink(plan.wish([this, prefix](Error error) {
      error.message.insert(0, prefix);
      hooks_.failed(error);
    }));
  };
  const auto title = std::make_shared<std::string>();
  relay::Crew::Hooks hooks;
  hooks.on_breaker = [this, prefix, title](bool open, const std::string& why) {
    hooks_.note(prefix +
                (open ? fmt::format("{} is down: {}; claiming rests until it is back", *title, why)
                      : *title + " is back"));
  };
  hooks.on_queues = [this, prefix, plan](std::size_t count) {
    hooks_.note(prefix + line_on_queues(plan, count));
  };
  hooks.on_end = [this, prefix](const Result<void>& how) { ended(prefix, how); };
  auto crew = relay::Crew::make(engine, plan.crew, make, std::move(hooks));
  if (!crew) return std::move(crew).error();
  *title = (*crew)->title();
  crews_.push_back(*std::move(crew));
  return {};
}

void Relays::start() {
  running_ = crews_.size();
  for (const auto& crew : crews_) crew->start();
  if (crews_.empty() && hooks_.ended) hooks_.ended();
}

void Relays::stop() {
  for (const auto& crew : crews_) crew->stop();
}

void Relays::abandon() {
  for (const auto& crew : crews_) crew->abandon();
}

std::vector<Relays::Named> Relays::stats() const {
  std::vector<Named> all;
  for (const auto& crew : crews_) all.push_back({crew->name(), crew->stats(), crew->is_up()});
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
