// IntakeFlow: an intake's next steps: pure decisions over arrived messages and the store's answers.
// Reads no clock and makes no request.
//
// For some messages it is not known whether they were pushed: they were redelivered, or the store's
// answer was lost. If the key of such a message is taken, the message is a duplicate; it is acked
// and dropped. If the key of any other message is taken, that message is not a duplicate; it is
// pushed under a key that the store generates.
//
// A batch that is too large for the store is sent again in two halves, and later batches have at
// most half as many bytes. A single message that is too large is set aside.
//
// Thread safety: none.
//
// Invariants
//  1. An arrival is in waiting_ or halves_, in one batch of batches_, in refusals_ or in
//     being_set_aside_, until it is acked or its connection is gone.
//  2. An arrival is acked only after the store has answered that it has the message, or after the
//     message was set aside.
//  3. At most kPushes batches are being pushed.
//  4. A message that could not be set aside is queued after the others. After a pause one message
//     is tried alone; after each success, twice as many are tried at once.
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
  std::uint64_t pushed = 0;      // messages that the store has taken
  std::uint64_t duplicates = 0;  // duplicates that were dropped
  // Messages pushed under a generated key, because another message has their key.
  std::uint64_t renamed = 0;
  std::uint64_t refused = 0;  // messages that were set aside
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
    bool multiple = false;  // also acks all arrivals before it
  };
  struct Refusal {
    Arrival arrival;
    std::string reason;
  };
  // A command to the source: set the message aside. It is valid until `set_aside`, `not_set_aside`
  // or `disconnected`.
  struct Refuse {
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
  /// The message could not be set aside; the flow will try again.
  void not_set_aside(std::uint64_t tag, const std::string& why, Moment now);
  /// The connection is lost. Messages that were not acked will arrive again on another one.
  void disconnected();
  /// Pushes nothing more, and waits for the answers to pushes in progress. Messages that were not
  /// pushed stay in the broker's queue.
  void stop();

  /// No message waits to be pushed, is being pushed or is being set aside, and `next` has returned
  /// every ack.
  [[nodiscard]] bool is_idle() const noexcept;
  [[nodiscard]] const IntakeStats& stats() const noexcept { return stats_; }
  /// The error that made the store unusable, so that the flow stopped by itself.
  [[nodiscard]] const std::optional<Error>& error() const noexcept { return error_; }
  /// Why the store could not take the last batch; empty if it took it.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
  /// Why the last refused message could not be set aside; empty if it was set aside.
  [[nodiscard]] const std::string& aside_trouble() const noexcept { return aside_trouble_; }

 private:
  struct Batch {
    std::vector<Arrival> arrivals;
    std::size_t bytes = 0;
    bool here = true;  // whether the connection on which they arrived is still open
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
  std::deque<std::vector<Arrival>> halves_;  // to be pushed before waiting_, each as one batch
  std::map<std::uint64_t, Batch> batches_;   // sent to the store, not yet answered
  std::deque<Refusal> refusals_;
  std::map<std::uint64_t, Refusal> being_set_aside_;  // by tag
  std::size_t aside_at_once_ = kMostAsideAtOnce;
  std::optional<Moment> aside_rest_until_;
  leases::Backoff aside_backoff_;
  std::string aside_trouble_;
  std::deque<Ack> acks_;
  std::set<std::uint64_t> open_;  // tags that are not acked yet
  std::uint64_t last_batch_ = 0;
  std::optional<Moment> rest_until_;
  leases::Backoff backoff_;
  std::string trouble_;
  std::optional<Error> error_;
  bool stopped_ = false;
  IntakeStats stats_;
};

}  // namespace tarry::relay
