// Queue: every verb, blocking and with a callback, one message or many.
//
// A Queue is a cheap handle (copy it freely) and may outlive its store: its verbs then answer
// `closed`, as those of a Queue that was moved away do. All members are thread safe.
//
// Callbacks run exactly once, on the executor given to `open` (without one: on a thread of the
// engine, where they must be quick), in any order, several at once, and must not throw. They never
// run within the verb on the thread that called it, not even where it is refused or the store is
// closed: a caller may hold a mutex that its callback takes. (With an executor that runs its task
// in place: on the engine's thread.) A blocking verb called from a thread of the engine is
// `misuse`, not a deadlock. A batch answers item by item, in order: one bad item fails alone. Its
// limits: 10,000 items, 128 MiB.
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

#include <tarry/message.h>
#include <tarry/result.h>
#include <tarry/settings.h>
#include <tarry/time.h>
#include <tarry/unique_function.h>

namespace tarry {

namespace core {
class Engine;
struct ClaimReply;
}  // namespace core
namespace detail {
class StoreState;
}

/// One claimed message. Cheap to copy: the deliveries of a claim share one buffer. So all views
/// that they give are good as long as any delivery of that claim, or a copy of one, is there,
/// whatever becomes of the message and of the store. One that was moved away is empty.
class Delivery {
 public:
  /// For the library: `claim` makes them.
  Delivery(std::shared_ptr<const core::ClaimReply> reply, std::size_t index) noexcept;

  [[nodiscard]] std::string_view queue() const noexcept TARRY_LIFETIMEBOUND;
  [[nodiscard]] std::uint64_t id() const noexcept;  ///< stable: drop duplicates by it
  [[nodiscard]] std::string_view key() const noexcept TARRY_LIFETIMEBOUND;
  [[nodiscard]] std::string_view payload() const noexcept TARRY_LIFETIMEBOUND;
  [[nodiscard]] Headers headers() const;
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const noexcept
      TARRY_LIFETIMEBOUND;
  [[nodiscard]] Time due() const noexcept;
  [[nodiscard]] Time claimed_at() const noexcept;        ///< by the store's clock
  [[nodiscard]] Millis lateness() const noexcept;        ///< claimed_at - due
  [[nodiscard]] Millis lease() const noexcept;           ///< how long the claim holds
  [[nodiscard]] std::uint32_t attempt() const noexcept;  ///< 1 the first time
  [[nodiscard]] std::uint32_t priority() const noexcept;
  [[nodiscard]] Tallies tallies() const noexcept;
  /// Names this claim and no other.
  [[nodiscard]] std::string_view receipt() const noexcept TARRY_LIFETIMEBOUND;

 private:
  std::shared_ptr<const core::ClaimReply> reply_;
  std::size_t index_;
};

struct ClaimOptions {
  std::uint32_t max = 1;                  ///< 1 .. 10,000 messages
  std::uint64_t max_bytes = 64ull << 20;  ///< 1 .. 128 MiB of payload; one message at least
  std::optional<Millis> lease = {};       ///< default: the queue's
  Millis wait{0};                         ///< 0 .. 1 h: how long to wait for something to fall due
  /// A request to stop ends the claim at once, as the end of its wait does: with nothing. What was
  /// on its way by then is released, its attempt not counted. Requested before, nothing is claimed.
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
  /// bury; retry: why it is dead, should this have been the last attempt. Up to 255 bytes of UTF-8.
  std::string_view reason = {};
  std::optional<std::uint32_t> priority = {};  ///< retry, release, bury: a new one
};

struct ListOptions {
  std::optional<State> state = {};
  std::string after = {};        ///< the `next` of the page before; empty: from the start
  std::uint32_t limit = 100;     ///< 1 .. 10,000; a page also ends at about 64 MiB
  std::string_view prefix = {};  ///< only keys that start so
  /// What is there from the first page to the last is on one of them, whoever claims or moves it
  /// meanwhile; maybe on two, and a page may have a few more than `limit`. Without it a store in
  /// Redis lists by due time, and what is moved past the page at hand is missed.
  bool whole = false;
};

struct Page {
  std::vector<MessageInfo> messages;  ///< without payloads; in no particular order
  std::string next;                   ///< empty: there is no more
};

struct ForecastOptions {
  Millis width = std::chrono::minutes(1);  ///< 1 ms .. 100 years: of a bucket
  std::uint32_t buckets = 60;              ///< 1 .. 10,000
};

/// How much falls due when, of what is scheduled or ready, as of some moment within the call.
struct Forecast {
  Millis width{0};
  std::uint64_t due_now = 0;
  /// The first: due within one width from now on; and so on, each bucket's end included.
  std::vector<std::uint64_t> buckets;
  std::uint64_t later = 0;  ///< behind the last bucket
};

namespace detail {
/// Nothing is one, and no braces make one. With an overload for lists of them, a verb of messages
/// does not compile for `{}`, which might mean one message with nothing set, or no message at all.
struct NoItem {
  NoItem(const NoItem&) = delete;
};
}  // namespace detail

/// Any callable, one that can only be moved included. An empty one is allowed: the answer is then
/// dropped.
template <typename T>
using Callback = UniqueFunction<void(Result<T>)>;

class Queue {
 public:
  /// For the library: `Store::queue` makes them.
  Queue(std::shared_ptr<detail::StoreState> store, std::string name) noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// For the library: what the verbs are asked of. It lives as long as the handle.
  [[nodiscard]] core::Engine& engine() const noexcept;

  // Errors of all verbs: `invalid_argument` and `too_large` for what is over a limit or ill-formed,
  // `closed`, `misuse` (above), `unavailable` where the store cannot be reached, `unknown_outcome`
  // where its answer was lost, `io_error`. Of a batch they concern the whole, or stand with one
  // item.

  // -- push
  /// Makes the queue too, where it is not there. Outcomes: `pushed`; where the key is taken, by
  /// `if_exists`, `exists`, `kept`, `replaced`, `moved` or `revived`; `in_flight`, `settled`. Each
  /// but `pushed`, `replaced`, `moved` and `revived` changed nothing. Error: `no_space`, where
  /// nothing was accepted. A batch of none is answered with none.
  Result<Pushed> push(const Push& message) const;
  void push(const Push& message, Callback<Pushed> done) const;
  Result<std::vector<Result<Pushed>>> push(std::span<const Push> messages) const;
  template <typename = void>
  Result<std::vector<Result<Pushed>>> push(std::initializer_list<Push> messages) const {
    return push(std::span(messages.begin(), messages.size()));
  }
  /// `push({})`: write `push(Push{})` for a message with an empty payload that is due now.
  Result<Pushed> push(std::initializer_list<detail::NoItem> nothing) const = delete;
  void push(std::span<const Push> messages, Callback<std::vector<Result<Pushed>>> done) const;

  // -- until it is due
  /// Outcomes: `cancelled`: no delivery begins any more (the dead are cancelled too); `stopping`:
  /// the one that runs may finish; `settled`; `unknown`, also where there is no such queue.
  Result<Answer> cancel(std::string_view key) const;
  void cancel(std::string_view key, Callback<Answer> done) const;
  Result<std::vector<Result<Answer>>> cancel(std::span<const std::string_view> keys) const;
  void cancel(std::span<const std::string_view> keys,
              Callback<std::vector<Result<Answer>>> done) const;
  /// Without these overloads two literals would select string_view(first, last) and read out of
  /// bounds.
  Result<std::vector<Result<Answer>>> cancel(std::initializer_list<std::string_view> keys) const;
  void cancel(std::initializer_list<std::string_view> keys,
              Callback<std::vector<Result<Answer>>> done) const;

  /// Outcomes: `rescheduled`, or `revived` where it was dead, both with the time that now stands;
  /// `in_flight`, `settled`, `unknown`: nothing has changed.
  Result<Answer> reschedule(std::string_view key, Due due) const;
  void reschedule(std::string_view key, Due due, Callback<Answer> done) const;
  Result<std::vector<Result<Answer>>> reschedule(std::span<const Reschedule> items) const;
  void reschedule(std::span<const Reschedule> items,
                  Callback<std::vector<Result<Answer>>> done) const;
  // One key at a time: two literals in braces would select string_view(first, last). So it is of
  // the other verbs that are deleted below.
  Result<Answer> reschedule(std::initializer_list<std::string_view> keys, Due due) const = delete;
  void reschedule(std::initializer_list<std::string_view> keys, Due due,
                  Callback<Answer> done) const = delete;

  /// `not_found` where there is no such message; a remembered one answers without payload.
  Result<MessageInfo> get(std::string_view key) const;
  void get(std::string_view key, Callback<MessageInfo> done) const;
  /// Item by item. `too_large` stands with those for which one answer (64 MiB) had no room: ask for
  /// them again.
  Result<std::vector<Result<MessageInfo>>> get(std::span<const std::string_view> keys) const;
  void get(std::span<const std::string_view> keys,
           Callback<std::vector<Result<MessageInfo>>> done) const;
  Result<std::vector<Result<MessageInfo>>> get(std::initializer_list<std::string_view> keys) const;
  void get(std::initializer_list<std::string_view> keys,
           Callback<std::vector<Result<MessageInfo>>> done) const;

  // -- claim and settle
  /// Empty when nothing was due within `wait`, the queue is paused, or it is not there.
  Result<std::vector<Delivery>> claim(const ClaimOptions& options = {}) const;
  void claim(const ClaimOptions& options, Callback<std::vector<Delivery>> done) const;

  /// These and `settle`: `done`, or `stale` where the receipt names no live claim. An ack by the
  /// receipt that acked the message before is `done` again while the queue remembers that.
  Result<Answer> ack(std::string_view receipt) const;
  /// Again after `delay` (default: the queue's backoff), which the answer tells as the due time; to
  /// the dead after the last attempt.
  Result<Answer> retry(std::string_view receipt, std::optional<Millis> delay = {}) const;
  /// Again now; the attempt does not count.
  Result<Answer> release(std::string_view receipt) const;
  /// To the dead.
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

  /// The lease now ends `lease` from now (default: the queue's). `done`, or `stale` as above.
  Result<Answer> extend(std::string_view receipt, std::optional<Millis> lease = {}) const;
  void extend(std::string_view receipt, std::optional<Millis> lease, Callback<Answer> done) const;
  /// The same of several receipts, or of the deliveries that have them.
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
  /// `not_found` for a queue that is not there.
  Result<QueueStats> stats() const;
  void stats(Callback<QueueStats> done) const;
  /// Empty for a queue that is not there.
  Result<Page> list(const ListOptions& options = {}) const;
  void list(const ListOptions& options, Callback<Page> done) const;
  /// Of a queue that is not there all zeros. In a layout what is leased counts when its lease ends.
  Result<Forecast> forecast(const ForecastOptions& options = {}) const;
  void forecast(const ForecastOptions& options, Callback<Forecast> done) const;
  /// Makes the queue too, where it is not there. Answers all of its settings, as they now are.
  Result<QueueSettings> configure(const SettingsPatch& patch) const;
  void configure(const SettingsPatch& patch, Callback<QueueSettings> done) const;
  /// Stops claims, waiting ones included, until `until` or `resume`; the last pause holds, so one
  /// until a time that has passed ends an earlier one.
  Result<PauseOutcome> pause(std::optional<Time> until = {}) const;
  void pause(std::optional<Time> until, Callback<PauseOutcome> done) const;
  Result<void> resume() const;
  void resume(Callback<void> done) const;
  /// Takes what is scheduled, ready or dead; what is leased or remembered stays. Answers how many.
  Result<std::uint64_t> purge() const;
  void purge(Callback<std::uint64_t> done) const;
  /// Takes away the queue with all that it has: messages in every state, remembered keys, settings,
  /// pause and counters. Answers how many messages went. What is pushed meanwhile or later makes it
  /// anew. Errors: `conflict` while messages are leased, unless `force` (their receipts are stale
  /// then), and while it gets other shards; `not_found` where there is no such queue; `unsupported`
  /// in a layout.
  Result<std::uint64_t> remove(bool force = false) const;
  void remove(bool force, Callback<std::uint64_t> done) const;
  /// An empty `keys` means all. Brings these dead messages back, due now, attempts anew, and
  /// answers how many.
  Result<std::uint64_t> revive(std::span<const std::string_view> keys = {}) const;
  Result<std::uint64_t> revive(std::initializer_list<std::string_view> keys) const {
    return revive(std::span(keys.begin(), keys.size()));
  }
  void revive(std::span<const std::string_view> keys, Callback<std::uint64_t> done) const;
  /// One step of giving the queue another number of shards (1 to 256), some thousand messages long:
  /// to be called until it is `done`, with the `turn` of the step before, the first time without.
  /// Everything else goes on meanwhile. A first step goes on with what another one began, and takes
  /// it over; that one is told `conflict`. After an error begin with a first step again. Redis
  /// only, also behind a server: other stores answer `unsupported`.
  Result<ReshardStep> reshard(std::uint32_t shards, std::uint64_t turn = 0) const;
  void reshard(std::uint32_t shards, std::uint64_t turn, Callback<ReshardStep> done) const;

 private:
  std::shared_ptr<detail::StoreState> store_;
  std::string name_;
};

}  // namespace tarry
