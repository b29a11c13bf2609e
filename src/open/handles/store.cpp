#include <tarry/store.h>

#include <utility>

#include "open/handles/ask.h"
#include "open/handles/claim.h"
#include "open/handles/questions.h"
#include "open/handles/store_state.h"

namespace tarry {
namespace {

std::vector<std::string> copied(std::span<const std::string_view> names) {
  return {names.begin(), names.end()};
}

}  // namespace

Store::Store(std::shared_ptr<detail::StoreState> state)
    : state_(std::move(state)),
      owner_(nullptr, [state = state_](std::nullptr_t) { detail::StoreState::close(state); }) {}

Queue Store::queue(std::string_view name) const { return {state_, std::string(name)}; }

Result<std::vector<Delivery>> Store::claim(std::span<const std::string_view> queues,
                                           const ClaimOptions& options) const {
  return detail::claim(detail::state_of(state_), copied(queues), options);
}

void Store::claim(std::span<const std::string_view> queues, const ClaimOptions& options,
                  Callback<std::vector<Delivery>> done) const {
  detail::claim(detail::state_of(state_), copied(queues), options, std::move(done));
}

Result<std::vector<Result<Answer>>> Store::settle(std::span<const Settle> items) const {
  return detail::ask(detail::state_of(state_), detail::ask_settle(items));
}

void Store::settle(std::span<const Settle> items,
                   Callback<std::vector<Result<Answer>>> done) const {
  detail::ask(detail::state_of(state_), detail::ask_settle(items), std::move(done));
}

Result<std::vector<Result<Answer>>> Store::extend(std::span<const std::string_view> receipts,
                                                  std::optional<Millis> lease) const {
  return detail::ask(detail::state_of(state_), detail::ask_extend(receipts, lease));
}

void Store::extend(std::span<const std::string_view> receipts, std::optional<Millis> lease,
                   Callback<std::vector<Result<Answer>>> done) const {
  detail::ask(detail::state_of(state_), detail::ask_extend(receipts, lease), std::move(done));
}

Result<std::vector<Result<Answer>>> Store::extend(std::span<const Delivery> deliveries,
                                                  std::optional<Millis> lease) const {
  return detail::ask(detail::state_of(state_), detail::ask_extend(deliveries, lease));
}

void Store::extend(std::span<const Delivery> deliveries, std::optional<Millis> lease,
                   Callback<std::vector<Result<Answer>>> done) const {
  detail::ask(detail::state_of(state_), detail::ask_extend(deliveries, lease), std::move(done));
}

Result<StoreStats> Store::stats() const {
  return detail::ask(detail::state_of(state_), detail::ask_store_stats());
}

void Store::stats(Callback<StoreStats> done) const {
  detail::ask(detail::state_of(state_), detail::ask_store_stats(), std::move(done));
}

void Store::close() {
  if (state_) detail::StoreState::close(state_);
}

std::optional<ManualClock> Store::manual_clock() const { return detail::state_of(state_).clock(); }

core::Engine& Store::engine() const noexcept { return detail::state_of(state_).engine(); }

}  // namespace tarry
