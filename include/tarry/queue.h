// Queue: every verb, blocking and with a callback, one message or many.
//
// A Queue is a cheap handle (copy it freely) and may outlive its store. Verbs of a Queue whose
// store is closed, or of a moved-from Queue, answer `closed`. All members are thread safe.
//
// A callback runs exactly once, on the executor given to `open` (without one: on a thread of the
// engine, where it must be quick). Callbacks run in any order, several at once, and must not throw.
// A callback never runs inside the verb on the caller's thread, not even if the verb is refused or
// the store is closed. So the caller may hold a mutex that the callback locks. (If the executor
// runs its task in place, the callback runs on the engine's thread.) A blocking verb on a thread of
// the engine would wait for itself, so it answers `misuse`. A batch answers item by item, in order;
// a bad item does not affect the others. Limits of a batch: 10,000 items, 128 MiB.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/history.h>
#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/settings.h>
#include <tarry/time.h>
#include <tarry/unique_function.h>
#include <tarry/why.h>

namespace tarry {

namespace core {
class Engine;
struct ClaimReply;
}  // namespace core
namespace detail {
class StoreState;
}

/// One claimed message. Cheap to copy: the deliveries of a claim share one buffer. All views into a
/// delivery stay valid while a delivery of the same claim, or a copy of one, exists, whatever
/// happens to the message and the store. A moved-from delivery is empty.
class Delivery {
 public:
  /// For the library: `claim` makes deliveries.
  Delivery(std::shared_ptr<const core::ClaimReply> reply, std::size_t index) noexcept;

  [[nodiscard]] std::string_view queue() const noexcept TARRY_LIFETIMEBOUND;
  [[nodiscard]] std::uint64_t id() const noexcept;  ///< stable: use it to drop duplicates
  [[nodiscard]] std::string_view key() const noexcept TARRY_LIFETIMEBOUND;
  [[nodiscard]] std::string_view payload() const noexcept TARRY_LIFETIMEBOUND;
  [[nodiscard]] Headers headers() const;
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept
      TARRY_LIFETIMEBOUND;
  [[nodiscard]] Time due() const noexcept;
  [[nodiscard]] Time claimed_at() const noexcept;        ///< by the store's clock
  [[nodiscard]] Millis lateness() const noexcept;        ///< claimed_at - due
  [[nodiscard]] Millis lease() const noexcept;           ///< length of the lease
  [[nodiscard]] std::uint32_t attempt() const noexcept;  ///< 1 the first time
  [[nodiscard]] std::uint32_t priority() const noexcept;
  [[nodiscard]] Tallies tallies() const noexcept;
  /// Names this claim only.
  [[nodiscard]] std::string_view receipt() const noexcept TARRY_LIFETIMEBOUND;

 private:
  std::shared_ptr<const core::ClaimReply> reply_;
  std::size_t index_;
};

struct ClaimOptions {
  std::uint32_t max = 1;                  ///< 1 .. 10,000 messages
  std::uint64_t max_bytes = 64ull << 20;  ///< 1 .. 128 MiB of payload; at least one message
  std::optional<Millis> lease = {};       ///< default: the queue's
  Millis wait{0};                         ///< 0 .. 1 h: how long to wait for a due message
  /// A stop request ends the claim at once, with no messages, as if its wait had ended. Messages
  /// that were already claimed for it are released, and the attempt does not count. If the stop was
  /// requested before the call, nothing is claimed.
  std::stop_token stop = {};
};

struct Reschedule {
  std::string_view key = {};
  Due due = {};
  std::optional<std::uint32_t> priority = {};
};

/// How to end one claim.
struct Settle {
  std::string_view receipt = {};
  Action action = Action::ack;
  std::optional<Millis> delay = {};  ///< retry only; default: the queue's backoff
  /// The reason of a bury, or of a retry: the store keeps it if the message becomes dead. Up to 255
  /// bytes of UTF-8.
  std::string_view reason = {};
  std::optional<std::uint32_t> priority = {};  ///< retry, release, bury: the new priority
};

/// The answer of `settle_and_claim`.
struct SettledAndClaimed {
  std::vector<Result<Answer>> settled;  ///< one for each item, in order
  /// As `claim` answers. An error here says nothing about the settlements.
  Result<std::vector<Delivery>> claimed;
};

struct ListOptions {
  std::optional<State> state = {};
  std::string after = {};        ///< `next` of the page before; empty: from the start
  std::uint32_t limit = 100;     ///< 1 .. 10,000; a page also ends at about 64 MiB
  std::string_view prefix = {};  ///< only keys that begin with it
  /// True: a message that exists from the first page to the last is on at least one page, even if
  /// it is claimed or moved meanwhile. It may be on two pages, and a page may have a few messages
  /// more than `limit`. False: a store in Redis lists by due time, and misses a message that moves
  /// to a place before the current page.
  bool whole = false;
};

struct Page {
  std::vector<MessageInfo> messages;  ///< without payloads; the order is not defined
  std::string next;                   ///< empty: this was the last page
};

struct ForecastOptions {
  Millis width = std::chrono::minutes(1);  ///< 1 ms .. 100 years: span of a bucket
  std::uint32_t buckets = 60;              ///< 1 .. 10,000
  std::optional<Time> from = {};           ///< when the first bucket begins; unless set, now
};

/// How many scheduled and ready messages fall due in each span of time, counted at one moment
/// during the call.
struct Forecast {
  Millis width{0};
  std::uint64_t due_now = 0;  ///< due already, or before the first bucket
  /// The first bucket counts messages due within one width from its beginning, the second those due
  /// within the next width, and so on. A bucket includes its end, not its beginning, and no message
  /// that is due already.
  std::vector<std::uint64_t> buckets;
  std::uint64_t later = 0;        ///< after the last bucket
  std::optional<Time> from = {};  ///< as the options said
};

namespace detail {
/// Nothing converts to this type. It is used in deleted overloads, so that `{}` as an argument does
/// not compile: `{}` could mean one message with nothing set, or no message at all.
struct NoItem {
  NoItem(const NoItem&) = delete;
};
}  // namespace detail

/// Any callable, even a move-only one. If it is empty, the answer is dropped.
template <typename T>
using Callback = UniqueFunction<void(Result<T>)>;

class Queue {
 public:
  /// For the library: `Store::queue` makes queues.
  Queue(std::shared_ptr<detail::StoreState> store, std::string name) noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// For the library: the engine behind the verbs. The engine lives as long as the handle.
  [[nodiscard]] core::Engine& engine() const noexcept;

  // Errors of all verbs: `invalid_argument` and `too_large` for values that are ill-formed or over
  // a limit, `closed`, `misuse` (above), `unavailable` if the store cannot be reached,
  // `unknown_outcome` if its answer was lost, `io_error`. In a batch, an error may concern the
  // whole batch or a single item.

  // -- push
  /// Creates the queue if it does not exist. Outcomes: `pushed`; for a taken key, depending on
  /// `if_exists`, `exists`, `kept`, `replaced`, `moved` or `revived`; `in_flight`, `settled`. Only
  /// `pushed`, `replaced`, `moved` and `revived` mean a change. Error: `no_space`: nothing was
  /// accepted. The answer to an empty batch is empty.
  Result<Pushed> push(const Push& message) const;
  void push(const Push& message, Callback<Pushed> done) const;
  Result<std::vector<Result<Pushed>>> push(std::span<const Push> messages) const;
  template <typename = void>
  Result<std::vector<Result<Pushed>>> push(std::initializer_list<Push> messages) const {
    return push(std::span(messages.begin(), messages.size()));
  }
  /// Deleted: instead of `push({})` write `push(Push{})`, which pushes an empty payload, due now.
  Result<Pushed> push(std::initializer_list<detail::NoItem> nothing) const = delete;
  void push(std::span<const Push> messages, Callback<std::vector<Result<Pushed>>> done) const;

  // -- until it is due
  /// Outcomes: `cancelled`: no delivery begins from now on (also for dead messages); `stopping`:
  /// the running delivery may finish; `settled`; `unknown`, also if there is no such queue.
  Result<Answer> cancel(std::string_view key) const;
  void cancel(std::string_view key, Callback<Answer> done) const;
  Result<std::vector<Result<Answer>>> cancel(std::span<const std::string_view> keys) const;
  void cancel(std::span<const std::string_view> keys,
              Callback<std::vector<Result<Answer>>> done) const;
  /// Without these overloads, two literals in braces would select string_view(first, last) and read
  /// out of bounds.
  Result<std::vector<Result<Answer>>> cancel(std::initializer_list<std::string_view> keys) const;
  void cancel(std::initializer_list<std::string_view> keys,
              Callback<std::vector<Result<Answer>>> done) const;

  /// Outcomes: `rescheduled`, or `revived` if it was dead, both with the new due time; `in_flight`,
  /// `settled`, `unknown`: nothing has changed.
  Result<Answer> reschedule(std::string_view key, Due due) const;
  void reschedule(std::string_view key, Due due, Callback<Answer> done) const;
  Result<std::vector<Result<Answer>>> reschedule(std::span<const Reschedule> items) const;
  void reschedule(std::span<const Reschedule> items,
                  Callback<std::vector<Result<Answer>>> done) const;
  // Deleted, because two literals in braces would select string_view(first, last). The deleted
  // overloads below have the same reason.
  Result<Answer> reschedule(std::initializer_list<std::string_view> keys, Due due) const = delete;
  void reschedule(std::initializer_list<std::string_view> keys, Due due,
                  Callback<Answer> done) const = delete;

  /// `not_found` if there is no such message; a remembered one answers without payload.
  Result<MessageInfo> get(std::string_view key) const;
  void get(std::string_view key, Callback<MessageInfo> done) const;
  /// Answers item by item. A message that no longer fits into the answer (64 MiB) has `too_large`:
  /// ask for it again.
  Result<std::vector<Result<MessageInfo>>> get(std::span<const std::string_view> keys) const;
  void get(std::span<const std::string_view> keys,
           Callback<std::vector<Result<MessageInfo>>> done) const;
  Result<std::vector<Result<MessageInfo>>> get(std::initializer_list<std::string_view> keys) const;
  void get(std::initializer_list<std::string_view> keys,
           Callback<std::vector<Result<MessageInfo>>> done) const;

  /// Why the message has not been delivered, or what has become of it. Asks twice, for the message
  /// and for its queue. `not_found` if the queue does not know the message, or does not exist. A
  /// store behind a server cannot tell of that server's relays; the server's own answer does.
  Result<Why> why(std::string_view key) const;
  void why(std::string_view key, Callback<Why> done) const;

  /// What has happened to the message: its last events, if the queue has the setting `history`;
  /// otherwise none, and `limit` is 0. `not_found` as for `get`; `unsupported` by stores that keep
  /// no histories.
  Result<MessageHistory> history(std::string_view key) const;
  void history(std::string_view key, Callback<MessageHistory> done) const;

  // -- claim and settle
  /// Empty if nothing was due within `wait`, the queue is paused, or it does not exist.
  Result<std::vector<Delivery>> claim(const ClaimOptions& options = {}) const;
  void claim(const ClaimOptions& options, Callback<std::vector<Delivery>> done) const;

  /// `ack`, `retry`, `release`, `bury` and `settle` answer `done`, or `stale` if the receipt names
  /// no live claim. A repeated ack with the same receipt is `done` again while the queue remembers
  /// the message.
  Result<Answer> ack(std::string_view receipt) const;
  /// Delivers the message again after `delay` (default: the queue's backoff). The answer has the
  /// new due time. After its last attempt the message becomes dead instead.
  Result<Answer> retry(std::string_view receipt, std::optional<Millis> delay = {}) const;
  /// Makes the message due again now. The attempt does not count.
  Result<Answer> release(std::string_view receipt) const;
  /// Sets the message aside as dead.
  Result<Answer> bury(std::string_view receipt, std::string_view reason = {}) const;
  Result<Answer> ack(std::initializer_list<std::string_view> receipts) const = delete;
  Result<Answer> retry(std::initializer_list<std::string_view> receipts,
                       std::optional<Millis> delay = {}) const = delete;
  Result<Answer> release(std::initializer_list<std::string_view> receipts) const = delete;
  Result<Answer> bury(std::initializer_list<std::string_view> receipts,
                      std::string_view reason = {}) const = delete;
  Result<Answer> settle(const Settle& item) const;
  void settle(const Settle& item, Callback<Answer> done) const;
  Result<std::vector<Result<Answer>>> settle(std::span<const Settle> items) const;
  template <typename = void>
  Result<std::vector<Result<Answer>>> settle(std::initializer_list<Settle> items) const {
    return settle(std::span(items.begin(), items.size()));
  }
  Result<Answer> settle(std::initializer_list<detail::NoItem> nothing) const = delete;
  void settle(std::span<const Settle> items, Callback<std::vector<Result<Answer>>> done) const;

  /// Settles claims of any queue, then claims: `settle` and `claim` in one request to a server, and
  /// usually one sync. The settlements are carried out first, so the claim may get a message that
  /// they release. They do not wait with the claim, and a stop does not undo them. If the options
  /// of the claim or the batch as a whole are bad, nothing is settled and nothing is claimed.
  Result<SettledAndClaimed> settle_and_claim(std::span<const Settle> items,
                                             const ClaimOptions& options = {}) const;
  template <typename = void>
  Result<SettledAndClaimed> settle_and_claim(std::initializer_list<Settle> items,
                                             const ClaimOptions& options = {}) const {
    return settle_and_claim(std::span(items.begin(), items.size()), options);
  }
  void settle_and_claim(std::span<const Settle> items, const ClaimOptions& options,
                        Callback<SettledAndClaimed> done) const;

  /// The lease will end `lease` from now (default: the queue's lease). Answers `done`, or `stale`
  /// as above.
  Result<Answer> extend(std::string_view receipt, std::optional<Millis> lease = {}) const;
  void extend(std::string_view receipt, std::optional<Millis> lease, Callback<Answer> done) const;
  /// The same for several receipts, or for deliveries.
  Result<std::vector<Result<Answer>>> extend(std::span<const std::string_view> receipts,
                                             std::optional<Millis> lease = {}) const;
  void extend(std::span<const std::string_view> receipts, std::optional<Millis> lease,
              Callback<std::vector<Result<Answer>>> done) const;
  Result<std::vector<Result<Answer>>> extend(std::initializer_list<std::string_view> receipts,
                                             std::optional<Millis> lease = {}) const;
  void extend(std::initializer_list<std::string_view> receipts, std::optional<Millis> lease,
              Callback<std::vector<Result<Answer>>> done) const;
  Result<std::vector<Result<Answer>>> extend(std::span<const Delivery> deliveries,
                                             std::optional<Millis> lease = {}) const;
  void extend(std::span<const Delivery> deliveries, std::optional<Millis> lease,
              Callback<std::vector<Result<Answer>>> done) const;

  // -- the queue as a whole
  /// `not_found` if the queue does not exist.
  Result<QueueStats> stats() const;
  void stats(Callback<QueueStats> done) const;
  /// Empty if the queue does not exist.
  Result<Page> list(const ListOptions& options = {}) const;
  void list(const ListOptions& options, Callback<Page> done) const;
  /// Every count is 0 if the queue does not exist. A layout also counts leased messages, as due
  /// when their lease ends.
  Result<Forecast> forecast(const ForecastOptions& options = {}) const;
  void forecast(const ForecastOptions& options, Callback<Forecast> done) const;
  /// Creates the queue if it does not exist. Answers all of its settings after the change.
  Result<QueueSettings> configure(const SettingsPatch& patch) const;
  void configure(const SettingsPatch& patch, Callback<QueueSettings> done) const;
  /// No claim, not even one that waits already, gets a message until `until` or `resume`. A new
  /// pause replaces the earlier one; with an `until` that has passed, it ends the pause.
  Result<PauseOutcome> pause(std::optional<Time> until = {}) const;
  void pause(std::optional<Time> until, Callback<PauseOutcome> done) const;
  Result<void> resume() const;
  void resume(Callback<void> done) const;
  /// Removes scheduled, ready and dead messages; leased and remembered ones stay. Answers how many
  /// messages were removed.
  Result<std::uint64_t> purge() const;
  void purge(Callback<std::uint64_t> done) const;
  /// Removes the queue with everything in it: messages in every state, remembered keys, settings,
  /// pause and counters. Answers how many messages were removed. A later push, even during the
  /// removal, creates the queue again. Errors: `conflict` while the queue is resharded, and while
  /// messages are leased, unless `force` is true (their receipts are then stale); `not_found` if
  /// there is no such queue; `unsupported` in a layout.
  Result<std::uint64_t> remove(bool force = false) const;
  void remove(bool force, Callback<std::uint64_t> done) const;
  /// Makes these dead messages due now; their attempts start again. An empty `keys` means all dead
  /// messages. Answers how many were revived.
  Result<std::uint64_t> revive(std::span<const std::string_view> keys = {}) const;
  Result<std::uint64_t> revive(std::initializer_list<std::string_view> keys) const {
    return revive(std::span(keys.begin(), keys.size()));
  }
  void revive(std::span<const std::string_view> keys, Callback<std::uint64_t> done) const;
  /// One step of resharding the queue to `shards` (1 to 256); a step moves some thousand messages.
  /// Call it until the step says `done`, each time with the `turn` that the previous step answered;
  /// the first step has none. All other verbs work meanwhile. If another caller began a reshard, a
  /// first step takes it over and continues it; the other caller then gets `conflict`. After an
  /// error, begin with a first step again. Only Redis supports this, also behind a server; other
  /// stores answer `unsupported`.
  Result<ReshardStep> reshard(std::uint32_t shards, std::uint64_t turn = 0) const;
  void reshard(std::uint32_t shards, std::uint64_t turn, Callback<ReshardStep> done) const;

 private:
  std::shared_ptr<detail::StoreState> store_;
  std::string name_;
};

}  // namespace tarry
