// Book: the lease protocol of a worker or a relay. It knows which claims are held and until when,
// and it says what to send to the store: a claim, extensions, settlements.
//
// The book does no I/O, has no thread and reads no clock. The book's owner tells it the time, sends
// the requests that it returns, and gives it the store's answers. `claim`, `settle` and `extend`
// return a request, or nothing if there is none to send. `next` says when to call them again.
//
//   a message      goes through hold -> extend, extended, extend ... -> end -> settle -> settled.
//   a lease        is extended after a third of its length. If the store is not available, the book
//                  tries again after a tenth of that length, at most 1 s later. If the store
//                  refuses (the engine has no extensions), the book does not try again, and the
//                  lease ends in its time. If the store says that the lease has run out, the claim
//                  is lost.
//   a settlement   waits while an earlier request of settlements is outstanding, and is then sent
//                  together with all others that have gathered. If the owner also wants to claim
//                  and the store can do both in one request, the book sends both in one. That claim
//                  does not wait, so that the settlements are answered at once. If its answer is
//                  lost, or the store is not available, the book sends it again.
//   a failed claim or settlement
//                  is sent again after 100 ms, then after twice as long, up to 5 s.
//   a lasting error
//                  (one that waiting does not end) stops the book, as `stop` does.
//
// Thread safety: none.
//
// Invariants
//  1. From `hold` on, a claim is in exactly one of held_, outbox_ and settling_. When it leaves
//     them it is counted once: as acked, retried, buried, released or stale.
//  2. At most one request of each kind is outstanding.
//  3. The book never assumes that a lease lasts longer than it does in the store. So it counts the
//     lease from the moment when the claim began, or when the extension was requested.
//  4. A claim that is lost is neither extended nor settled.
//  5. The settlement of any other claim is sent to the store at least once, whatever the clock
//     says. If that fails, the book sends it again only while the lease holds; after a stop, only
//     for 10 s after the claim ended; after `abandon`, never.
//  6. After a stop nothing is claimed, and nothing new is held.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "core/reply.h"
#include "core/request.h"
#include "leases/backoff.h"
#include "leases/moment.h"
#include "leases/settlement.h"

namespace tarry::leases {

struct BookOptions {
  std::optional<Millis> lease = {};  // of claims; empty: the queue's
  // How long after a stop leases are still extended; empty: as long as claims are held.
  std::optional<Millis> hold = {};
  // Whether settlements travel in a claim (core::Capabilities).
  bool joins = false;
};

/// How claims ended.
struct Counts {
  std::uint64_t acked = 0;
  std::uint64_t retried = 0;
  std::uint64_t buried = 0;
  std::uint64_t released = 0;
  std::uint64_t stale = 0;    // not settled: the lease had run out, or the store refused
  std::uint64_t refused = 0;  // of the stale: refused by the store
  std::uint64_t run_out = 0;  // leases that the store would not extend any more

  Counts& operator+=(const Counts& other) noexcept;
  friend bool operator==(const Counts&, const Counts&) = default;
};

/// The end of a lost lease: a moment before all others, so that the lease is over whatever the
/// clock says.
inline constexpr Moment kLost = Moment::min();

class Book {
 public:
  using Id = std::uint64_t;

  explicit Book(BookOptions options) : options_(options) {}

  // -- requests to send

  /// A claim for up to `most` messages (at least 1). The owner adds the queues, and may shorten the
  /// wait. If `joins` is true, the claim takes the settlements with it and does not wait.
  [[nodiscard]] std::optional<core::ClaimRequest> claim(std::uint32_t most, Moment now);
  [[nodiscard]] std::optional<core::SettleRequest> settle(Moment now);
  [[nodiscard]] std::optional<core::ExtendRequest> extend(Moment now);
  /// Whether a claim sent now would take settlements with it. So ask for a claim before `settle`.
  [[nodiscard]] bool joins(Moment now) const noexcept;
  /// The owner no longer wants the outstanding claim. True, once per claim: withdraw it now. (A
  /// claim that took settlements with it is soon answered by itself.)
  [[nodiscard]] bool withdraw() noexcept;

  /// When `settle` or `extend` will have something to send; empty: not before another event.
  [[nodiscard]] std::optional<Moment> next() const noexcept;
  /// Whether the owner may claim: no claim is outstanding, the book has not stopped, and the store
  /// keeps up with settlements.
  [[nodiscard]] bool may_claim() const noexcept;
  [[nodiscard]] Moment claim_at() const noexcept { return claim_at_; }

  // -- answers

  /// The moment from which the leases of the reply count; empty: the claim failed.
  [[nodiscard]] std::optional<Moment> claimed(
      const Result<std::shared_ptr<const core::ClaimReply>>& reply, Moment now);
  void settled(const Result<core::ItemsReply>& reply, Moment now);
  struct Change {
    Id id = 0;
    Moment end = kLost;  // of its lease, from now on
  };
  /// Returns those held claims whose leases were extended or lost.
  [[nodiscard]] std::vector<Change> extended(const Result<core::ItemsReply>& reply, Moment now);

  // -- claims

  /// Holds one message of a claim that was answered. Empty: the book releases it at once, because
  /// it has stopped, or because the answer arrived after the lease was over.
  [[nodiscard]] std::optional<Id> hold(std::string_view receipt, Millis lease, Moment begun,
                                       Moment now);
  /// Ends a held claim: the book will send this settlement to the store. A lost claim is only
  /// counted.
  void end(Id id, Settlement settlement, Moment now);
  /// The end of the lease of a claim that is held; kLost if it is lost.
  [[nodiscard]] Moment lease_end(Id id) const { return held_.at(id).end; }
  /// The claims whose leases are over by the clock, whatever the store says about them later. When
  /// further claims join them, the next call returns the whole list again.
  [[nodiscard]] std::vector<Id> lapsed(Moment now);
  /// When to call `lapsed` next; empty: no lease ends.
  [[nodiscard]] std::optional<Moment> lapse_at() const noexcept { return lapse_at_; }

  // -- the end

  /// Stops the book; idempotent. `why`: the error that ends the owner. If there are several, the
  /// first is kept.
  void stop(Moment now, std::optional<Error> why = {});
  /// From now on a request that the store does not accept at once is given up, and its leases run
  /// out.
  void abandon() noexcept { abandoned_ = true; }
  [[nodiscard]] const std::optional<Moment>& stopped_at() const noexcept { return stopped_at_; }
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  /// No claim is held or waits to be settled, and no request is outstanding.
  [[nodiscard]] bool is_idle() const noexcept;

  // -- reports

  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }
  /// The counts since the last call.
  [[nodiscard]] Counts take_counts() noexcept { return std::exchange(counts_, {}); }
  /// Claims that are held, or not settled yet.
  [[nodiscard]] std::size_t size() const noexcept {
    return held_.size() + outbox_.size() + settling_.size();
  }
  /// How many messages the outstanding claim asks for; 0: there is none.
  [[nodiscard]] std::uint32_t claiming() const noexcept { return claiming_; }
  /// Why the store cannot be used now; empty: it answers.
  [[nodiscard]] std::optional<Error> outage() const;
  /// Why the store has refused to settle a claim since the last call (the latest reason); empty if
  /// it has not.
  [[nodiscard]] std::optional<Error> take_refusal() noexcept {
    return std::exchange(refusal_, std::nullopt);
  }

 private:
  enum class Kind : std::uint8_t { claim, settle, extend };

  struct Held {
    std::string receipt;
    Millis lease{0};
    Moment end{0};  // of the lease
    Moment extend_at{0};
    bool extendable = true;
  };
  struct Ended {
    std::string receipt;
    Settlement settlement;
    Moment lease_end{0};
    Moment at{0};
    bool sent = false;
  };

  [[nodiscard]] bool may_repeat(const Ended& ended, Moment now) const noexcept;
  void answered(Kind kind) noexcept;
  void claim_failed(const Error& error, Moment now);
  /// True: send the request again. False: the book has stopped.
  [[nodiscard]] bool failed(Kind kind, const Error& error, Moment now);
  void settle_item(Ended ended, const core::ItemResult& answer, Moment now);
  void extend_item(Held& held, const core::ItemResult& answer, Moment now);

  const BookOptions options_;

  Id next_id_ = 1;
  std::unordered_map<Id, Held> held_;
  std::deque<Ended> outbox_;
  std::vector<Ended> settling_;
  std::vector<Id> extending_;
  Moment extend_sent_{0};
  std::optional<Moment> extend_at_;  // the earliest moment to extend a held claim; empty: none
                                     // needs it
  std::optional<Moment> lapse_at_;   // the earliest end of a lease that has not lapsed

  std::uint32_t claiming_ = 0;
  bool withdrawn_ = false;
  bool joined_ = false;  // the outstanding claim has taken settling_ with it
  Moment claim_at_{0};
  Backoff claim_backoff_;
  Moment settle_at_{0};
  Backoff settle_backoff_;

  std::optional<Moment> stopped_at_;
  bool abandoned_ = false;
  std::optional<Error> error_;

  Counts counts_;
  std::array<std::optional<Error>, 3> outages_;  // by Kind
  std::optional<Error> refusal_;
};

}  // namespace tarry::leases
