// IntakeFlow: what an intake does next: pure decisions over what arrived and what the store
// answered. Reads no clock and asks nobody.
//
// A message of which it is not known whether it was pushed (it was redelivered, or the store's
// answer was lost) and whose key is taken is a duplicate: it is acked and dropped. Another one
// whose key is taken is no duplicate: it is pushed under a key of the store's making.
//
// A batch that is too large for the store goes again in two halves, and later ones have at most
// half as many bytes. One message that is too large alone is set aside.
//
// Thread safety: none.
//
// Invariants
//  1. An arrival is in waiting_ or halves_, in one batch of batches_, in refusals_ or in
//     being_set_aside_, until it is acked or its connection is gone.
//  2. It is acked only after the store has answered that it has it, or after it was set aside.
//  3. At most kPushes batches are with the store.
//  4. What could not be set aside goes behind the others, after a rest; then one is tried alone,
//     and twice as many after each that could.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include <tarry/result.h>

#include "core/reply.h"
#include "core/request.h"
#include "leases/backoff.h"
#include "relay/intakes/arrival.h"

namespace tarry::relay {

struct IntakeStats {
  std::uint64_t arrived = 0;
  std::uint64_t pushed = 0;      // the store has them
  std::uint64_t duplicates = 0;  // dropped
  std::uint64_t renamed = 0;     // pushed under a generated key: theirs was another message's
  std::uint64_t refused = 0;     // set aside
  std::uint64_t acked = 0;
};

class IntakeFlow {
 public:
  using Moment = std::chrono::milliseconds;  // of a steady clock
  static constexpr std::size_t kPushes = 2;
  static constexpr std::size_t kMostAsideAtOnce = 1'024;

  struct Push {
    std::uint64_t batch = 0;
    core::PushRequest request;
  };
  struct Ack {
    std::uint64_t tag = 0;
    bool multiple = false;  // and all before it
  };
  struct Refusal {
    Arrival arrival;
    std::string reason;
  };
  struct Refuse {  // to be set aside; it lives until `set_aside`, `not_set_aside` or `disconnected`
    const Refusal* refusal = nullptr;
  };
  struct Wait {
    std::optional<Moment> until;
  };
  struct Finished {};
  using Step = std::variant<Push, Ack, Refuse, Wait, Finished>;

  /// `batch`: 1 .. core::kMaxBatch.
  IntakeFlow(std::string queue, std::size_t batch);

  [[nodiscard]] Step next(Moment now);

  void arrived(Arrival arrival);
  void pushed(std::uint64_t batch, const Result<core::PushReply>& reply, Moment now);
  void set_aside(std::uint64_t tag);
  /// It is tried again.
  void not_set_aside(std::uint64_t tag, const std::string& why, Moment now);
  /// What was not acked comes again, on another connection.
  void disconnected();
  /// Pushes nothing more; what is with the store is waited for. What waits stays where it was.
  void stop();

  /// Nothing waits for the store or is with it, nothing is being set aside, every ack was given
  /// out.
  [[nodiscard]] bool is_idle() const noexcept;
  [[nodiscard]] const IntakeStats& stats() const noexcept { return stats_; }
  /// Why it has stopped by itself: the store can no longer be used.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  /// What the store said when it could not take a batch now; empty: it took the last one.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
  /// Why the last one could not be set aside; empty: it could.
  [[nodiscard]] const std::string& aside_trouble() const noexcept { return aside_trouble_; }

 private:
  struct Batch {
    std::vector<Arrival> arrivals;
    std::size_t bytes = 0;
    bool here = true;  // the connection that they came by lives
  };

  [[nodiscard]] Refuse refuse_first();
  [[nodiscard]] Push cut_batch();
  void again(std::vector<Arrival> arrivals, const Error& error, Moment now);
  void in_halves(Batch batch, const Error& error);
  void judge(Arrival arrival, const core::PushResult& result, std::vector<Arrival>& once_more);
  void done(std::uint64_t tag);

  const std::string queue_;
  const std::size_t batch_size_;
  std::size_t batch_bytes_;
  std::deque<Arrival> waiting_;
  std::deque<std::vector<Arrival>> halves_;  // to be pushed before those, each in one batch
  std::map<std::uint64_t, Batch> batches_;   // with the store
  std::deque<Refusal> refusals_;
  std::map<std::uint64_t, Refusal> being_set_aside_;  // by tag
  std::size_t aside_at_once_ = kMostAsideAtOnce;
  std::optional<Moment> aside_rest_until_;
  leases::Backoff aside_backoff_;
  std::string aside_trouble_;
  std::deque<Ack> acks_;
  std::set<std::uint64_t> open_;  // tags that are not done
  std::uint64_t last_batch_ = 0;
  std::optional<Moment> rest_until_;
  leases::Backoff backoff_;
  std::string trouble_;
  std::optional<Error> error_;
  bool stopped_ = false;
  IntakeStats stats_;
};

}  // namespace tarry::relay
