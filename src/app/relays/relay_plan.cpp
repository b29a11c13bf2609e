#include "app/relays/relay_plan.h"

#include <utility>

#include <fmt/format.h>

namespace tarry::app {

bool RelayPlan::runs_command() const {
  const relay::SinkKind* kind = find_sink_kind(to);
  return kind != nullptr && kind->runs_command;
}

bool RelayPlan::writes_stdout() const {
  const relay::SinkKind* kind = find_sink_kind(to);
  return kind != nullptr && kind->writes_stdout;
}

relay::SinkWish RelayPlan::wish(std::function<void(Error)> on_broken,
                                const relay::ChildOptions& children) const {
  return {to, command, concurrency, children, std::move(on_broken)};
}

std::uint32_t in_flight_of(const RelayPlan& plan, std::optional<std::uint64_t> given) {
  if (given) return static_cast<std::uint32_t>(*given);
  return plan.runs_command() ? 2 * plan.concurrency : plan.options.relay.in_flight;
}

Result<void> check_numbers(const RelayPlan& plan) {
  if (plan.options.threads > 1 && (plan.writes_stdout() || plan.runs_command())) {
    return Error{ErrorCode::invalid_argument,
                 fmt::format("threads {} must be 1 for {}{}", plan.options.threads, plan.to,
                             plan.runs_command() ? "; raise its concurrency instead" : "")};
  }
  return relay::check(plan.options);
}

Result<void> check_sink(const RelayPlan& plan) {
  const auto sink = make_sink(plan.wish([](const Error&) {}));
  if (!sink) return sink.error();
  return {};
}

}  // namespace tarry::app
