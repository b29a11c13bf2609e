#include <tarry/queue.h>

#include <utility>

#include "core/figures/why.h"
#include "open/handles/ask.h"
#include "open/handles/claim.h"
#include "open/handles/questions.h"
#include "open/handles/store_state.h"

namespace tarry {

using detail::ask;
using detail::single;

Queue::Queue(std::shared_ptr<detail::StoreState> store, std::string name) noexcept
    : store_(std::move(store)), name_(std::move(name)) {}

core::Engine& Queue::engine() const noexcept { return detail::state_of(store_).engine(); }

// -- push

Result<Pushed> Queue::push(const Push& message) const {
  return ask(detail::state_of(store_), single(detail::ask_push(name_, {&message, 1})));
}

void Queue::push(const Push& message, Callback<Pushed> done) const {
  ask(detail::state_of(store_), single(detail::ask_push(name_, {&message, 1})), std::move(done));
}

Result<std::vector<Result<Pushed>>> Queue::push(std::span<const Push> messages) const {
  return ask(detail::state_of(store_), detail::ask_push(name_, messages));
}

void Queue::push(std::span<const Push> messages, Callback<std::vector<Result<Pushed>>> done) const {
  ask(detail::state_of(store_), detail::ask_push(name_, messages), std::move(done));
}

// -- until it is due

Result<Answer> Queue::cancel(std::string_view key) const {
  return ask(detail::state_of(store_), single(detail::ask_cancel(name_, {&key, 1})));
}

void Queue::cancel(std::string_view key, Callback<Answer> done) const {
  ask(detail::state_of(store_), single(detail::ask_cancel(name_, {&key, 1})), std::move(done));
}

Result<std::vector<Result<Answer>>> Queue::cancel(std::span<const std::string_view> keys) const {
  return ask(detail::state_of(store_), detail::ask_cancel(name_, keys));
}

void Queue::cancel(std::span<const std::string_view> keys,
                   Callback<std::vector<Result<Answer>>> done) const {
  ask(detail::state_of(store_), detail::ask_cancel(name_, keys), std::move(done));
}

Result<std::vector<Result<Answer>>> Queue::cancel(
    std::initializer_list<std::string_view> keys) const {
  return cancel(std::span(keys.begin(), keys.size()));
}

void Queue::cancel(std::initializer_list<std::string_view> keys,
                   Callback<std::vector<Result<Answer>>> done) const {
  cancel(std::span(keys.begin(), keys.size()), std::move(done));
}

Result<Answer> Queue::reschedule(std::string_view key, Due due) const {
  const Reschedule item{.key = key, .due = due};
  return ask(detail::state_of(store_), single(detail::ask_reschedule(name_, {&item, 1})));
}

void Queue::reschedule(std::string_view key, Due due, Callback<Answer> done) const {
  const Reschedule item{.key = key, .due = due};
  ask(detail::state_of(store_), single(detail::ask_reschedule(name_, {&item, 1})), std::move(done));
}

Result<std::vector<Result<Answer>>> Queue::reschedule(std::span<const Reschedule> items) const {
  return ask(detail::state_of(store_), detail::ask_reschedule(name_, items));
}

void Queue::reschedule(std::span<const Reschedule> items,
                       Callback<std::vector<Result<Answer>>> done) const {
  ask(detail::state_of(store_), detail::ask_reschedule(name_, items), std::move(done));
}

Result<MessageInfo> Queue::get(std::string_view key) const {
  return ask(detail::state_of(store_), single(detail::ask_get(name_, {&key, 1})));
}

void Queue::get(std::string_view key, Callback<MessageInfo> done) const {
  ask(detail::state_of(store_), single(detail::ask_get(name_, {&key, 1})), std::move(done));
}

Result<std::vector<Result<MessageInfo>>> Queue::get(std::span<const std::string_view> keys) const {
  return ask(detail::state_of(store_), detail::ask_get(name_, keys));
}

void Queue::get(std::span<const std::string_view> keys,
                Callback<std::vector<Result<MessageInfo>>> done) const {
  ask(detail::state_of(store_), detail::ask_get(name_, keys), std::move(done));
}

Result<std::vector<Result<MessageInfo>>> Queue::get(
    std::initializer_list<std::string_view> keys) const {
  return get(std::span(keys.begin(), keys.size()));
}

void Queue::get(std::initializer_list<std::string_view> keys,
                Callback<std::vector<Result<MessageInfo>>> done) const {
  get(std::span(keys.begin(), keys.size()), std::move(done));
}

namespace {

Result<Why> why_of(std::string_view key, Result<MessageInfo> message, Result<QueueStats> queue) {
  if (!queue) return std::move(queue).error();
  if (message) return core::why(*std::move(message), *std::move(queue));
  Error error = std::move(message).error();
  if (error.code == ErrorCode::not_found) error.message = core::why_unknown(key, *queue);
  return error;
}

}  // namespace

Result<Why> Queue::why(std::string_view key) const {
  auto message = get(key);
  if (!message && message.error().code != ErrorCode::not_found) return std::move(message).error();
  return why_of(key, std::move(message), stats());
}

void Queue::why(std::string_view key, Callback<Why> done) const {
  get(key, [queue = *this, asked = std::string(key),
            done = std::move(done)](Result<MessageInfo> message) mutable {
    if (!message && message.error().code != ErrorCode::not_found) {
      return done(std::move(message).error());
    }
    queue.stats([asked = std::move(asked), message = std::move(message),
                 done = std::move(done)](Result<QueueStats> stats) mutable {
      done(why_of(asked, std::move(message), std::move(stats)));
    });
  });
}

Result<MessageHistory> Queue::history(std::string_view key) const {
  return ask(detail::state_of(store_), detail::ask_history(name_, key));
}

void Queue::history(std::string_view key, Callback<MessageHistory> done) const {
  ask(detail::state_of(store_), detail::ask_history(name_, key), std::move(done));
}

// -- claim and settle

Result<std::vector<Delivery>> Queue::claim(const ClaimOptions& options) const {
  return detail::claim(detail::state_of(store_), {name_}, options);
}

void Queue::claim(const ClaimOptions& options, Callback<std::vector<Delivery>> done) const {
  detail::claim(detail::state_of(store_), {name_}, options, std::move(done));
}

Result<Answer> Queue::ack(std::string_view receipt) const {
  return settle(Settle{.receipt = receipt, .action = Action::ack});
}

Result<Answer> Queue::retry(std::string_view receipt, std::optional<Millis> delay) const {
  return settle(Settle{.receipt = receipt, .action = Action::retry, .delay = delay});
}

Result<Answer> Queue::release(std::string_view receipt) const {
  return settle(Settle{.receipt = receipt, .action = Action::release});
}

Result<Answer> Queue::bury(std::string_view receipt, std::string_view reason) const {
  return settle(Settle{.receipt = receipt, .action = Action::bury, .reason = reason});
}

Result<Answer> Queue::settle(const Settle& item) const {
  return ask(detail::state_of(store_), single(detail::ask_settle({&item, 1})));
}

void Queue::settle(const Settle& item, Callback<Answer> done) const {
  ask(detail::state_of(store_), single(detail::ask_settle({&item, 1})), std::move(done));
}

Result<std::vector<Result<Answer>>> Queue::settle(std::span<const Settle> items) const {
  return ask(detail::state_of(store_), detail::ask_settle(items));
}

void Queue::settle(std::span<const Settle> items,
                   Callback<std::vector<Result<Answer>>> done) const {
  ask(detail::state_of(store_), detail::ask_settle(items), std::move(done));
}

Result<SettledAndClaimed> Queue::settle_and_claim(std::span<const Settle> items,
                                                  const ClaimOptions& options) const {
  return detail::settle_and_claim(detail::state_of(store_), {name_}, items, options);
}

void Queue::settle_and_claim(std::span<const Settle> items, const ClaimOptions& options,
                             Callback<SettledAndClaimed> done) const {
  detail::settle_and_claim(detail::state_of(store_), {name_}, items, options, std::move(done));
}

Result<Answer> Queue::extend(std::string_view receipt, std::optional<Millis> lease) const {
  return ask(detail::state_of(store_), single(detail::ask_extend({&receipt, 1}, lease)));
}

void Queue::extend(std::string_view receipt, std::optional<Millis> lease,
                   Callback<Answer> done) const {
  ask(detail::state_of(store_), single(detail::ask_extend({&receipt, 1}, lease)), std::move(done));
}

Result<std::vector<Result<Answer>>> Queue::extend(std::span<const std::string_view> receipts,
                                                  std::optional<Millis> lease) const {
  return ask(detail::state_of(store_), detail::ask_extend(receipts, lease));
}

void Queue::extend(std::span<const std::string_view> receipts, std::optional<Millis> lease,
                   Callback<std::vector<Result<Answer>>> done) const {
  ask(detail::state_of(store_), detail::ask_extend(receipts, lease), std::move(done));
}

Result<std::vector<Result<Answer>>> Queue::extend(std::initializer_list<std::string_view> receipts,
                                                  std::optional<Millis> lease) const {
  return extend(std::span(receipts.begin(), receipts.size()), lease);
}

void Queue::extend(std::initializer_list<std::string_view> receipts, std::optional<Millis> lease,
                   Callback<std::vector<Result<Answer>>> done) const {
  extend(std::span(receipts.begin(), receipts.size()), lease, std::move(done));
}

Result<std::vector<Result<Answer>>> Queue::extend(std::span<const Delivery> deliveries,
                                                  std::optional<Millis> lease) const {
  return ask(detail::state_of(store_), detail::ask_extend(deliveries, lease));
}

void Queue::extend(std::span<const Delivery> deliveries, std::optional<Millis> lease,
                   Callback<std::vector<Result<Answer>>> done) const {
  ask(detail::state_of(store_), detail::ask_extend(deliveries, lease), std::move(done));
}

// -- the queue as a whole

Result<QueueStats> Queue::stats() const {
  return ask(detail::state_of(store_), detail::ask_queue_stats(name_));
}

void Queue::stats(Callback<QueueStats> done) const {
  ask(detail::state_of(store_), detail::ask_queue_stats(name_), std::move(done));
}

Result<Page> Queue::list(const ListOptions& options) const {
  return ask(detail::state_of(store_), detail::ask_list(name_, options));
}

void Queue::list(const ListOptions& options, Callback<Page> done) const {
  ask(detail::state_of(store_), detail::ask_list(name_, options), std::move(done));
}

Result<Forecast> Queue::forecast(const ForecastOptions& options) const {
  return ask(detail::state_of(store_), detail::ask_forecast(name_, options));
}

void Queue::forecast(const ForecastOptions& options, Callback<Forecast> done) const {
  ask(detail::state_of(store_), detail::ask_forecast(name_, options), std::move(done));
}

Result<QueueSettings> Queue::configure(const SettingsPatch& patch) const {
  return ask(detail::state_of(store_), detail::ask_configure(name_, patch));
}

void Queue::configure(const SettingsPatch& patch, Callback<QueueSettings> done) const {
  ask(detail::state_of(store_), detail::ask_configure(name_, patch), std::move(done));
}

Result<PauseOutcome> Queue::pause(std::optional<Time> until) const {
  return ask(detail::state_of(store_), detail::ask_pause(name_, until));
}

void Queue::pause(std::optional<Time> until, Callback<PauseOutcome> done) const {
  ask(detail::state_of(store_), detail::ask_pause(name_, until), std::move(done));
}

Result<void> Queue::resume() const {
  return ask(detail::state_of(store_), detail::ask_resume(name_));
}

void Queue::resume(Callback<void> done) const {
  ask(detail::state_of(store_), detail::ask_resume(name_), std::move(done));
}

Result<std::uint64_t> Queue::purge() const {
  return ask(detail::state_of(store_), detail::ask_purge(name_));
}

void Queue::purge(Callback<std::uint64_t> done) const {
  ask(detail::state_of(store_), detail::ask_purge(name_), std::move(done));
}

Result<std::uint64_t> Queue::remove(bool force) const {
  return ask(detail::state_of(store_), detail::ask_remove(name_, force));
}

void Queue::remove(bool force, Callback<std::uint64_t> done) const {
  ask(detail::state_of(store_), detail::ask_remove(name_, force), std::move(done));
}

Result<ReshardStep> Queue::reshard(std::uint32_t shards, std::uint64_t turn) const {
  return ask(detail::state_of(store_), detail::ask_reshard(name_, shards, turn));
}

void Queue::reshard(std::uint32_t shards, std::uint64_t turn, Callback<ReshardStep> done) const {
  ask(detail::state_of(store_), detail::ask_reshard(name_, shards, turn), std::move(done));
}

Result<std::uint64_t> Queue::revive(std::span<const std::string_view> keys) const {
  return ask(detail::state_of(store_), detail::ask_revive(name_, keys));
}

void Queue::revive(std::span<const std::string_view> keys, Callback<std::uint64_t> done) const {
  ask(detail::state_of(store_), detail::ask_revive(name_, keys), std::move(done));
}

}  // namespace tarry
