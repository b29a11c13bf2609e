// Short words for what every test does: unwrap answers, bring a message into a state, look at it.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <source_location>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/queue.h>
#include <tarry/store.h>

#include "core/engine.h"
#include "pending.h"

namespace tarry::contract {

using namespace std::chrono_literals;
using std::chrono::hours;

[[noreturn]] void fail(const Error& error, std::source_location where);

/// The value; an error fails the test, naming the line that asked.
template <typename T>
T must(Result<T> result, std::source_location where = std::source_location::current()) {
  if (!result) fail(result.error(), where);
  return std::move(*result);
}
inline void must(Result<void> result,
                 std::source_location where = std::source_location::current()) {
  if (!result) fail(result.error(), where);
}

[[nodiscard]] inline std::int64_t ms(Time time) { return time.time_since_epoch().count(); }

/// A lease that no test outlasts by accident.
inline constexpr Millis kLongLease = hours(48);

/// What is due now, at most `max`, under a long lease, without waiting.
[[nodiscard]] std::vector<Delivery> claim(
    const Queue& queue, std::uint32_t max = 1, std::optional<Millis> lease = kLongLease,
    std::source_location where = std::source_location::current());
/// Exactly the one message that is due.
[[nodiscard]] Delivery claim_one(const Queue& queue, std::optional<Millis> lease = kLongLease,
                                 std::source_location where = std::source_location::current());
/// All that is due, claim by claim.
[[nodiscard]] std::vector<Delivery> claim_all(const Queue& queue);
/// True where a claim now is handed nothing. What it is handed wrongly stays leased.
[[nodiscard]] bool nothing_due(const Queue& queue);

[[nodiscard]] std::vector<std::string> keys_of(const std::vector<Delivery>& deliveries);
[[nodiscard]] std::multiset<std::string> key_set(const std::vector<Delivery>& deliveries);

/// The message of that key, or none.
[[nodiscard]] std::optional<MessageInfo> find(
    const Queue& queue, std::string_view key,
    std::source_location where = std::source_location::current());
/// All messages of the queue, page by page.
[[nodiscard]] std::vector<MessageInfo> list_all(const Queue& queue, ListOptions options = {});

/// A claim that waits, and is known to by the store.
[[nodiscard]] Pending<std::vector<Delivery>> waiting_claim(
    const Queue& queue, const ClaimOptions& options,
    std::source_location where = std::source_location::current());
/// Until the store counts at least that many claims waiting on the queue.
void await_waiting(const Queue& queue, std::uint64_t claims);

/// Straight to the engine, for what the public face has no verb for.
[[nodiscard]] Result<core::Reply> submit(core::Engine& engine, core::Request request);
[[nodiscard]] Pending<core::Reply> submit_async(core::Engine& engine, core::Request request,
                                                core::Ticket& ticket);

/// The deliveries of a claim made of the engine.
[[nodiscard]] std::vector<Delivery> deliveries(core::Reply reply);

// ---- where a message can be

enum class Place : std::uint8_t {
  absent,
  scheduled,  // due in an hour, after one attempt
  ready,      // due ten seconds ago, after one attempt
  leased,     // second attempt
  stopping,   // leased, and cancelled meanwhile
  dead,       // buried with a reason in its second attempt
  acked,      // remembered
  cancelled,  // remembered: cancelled while leased
  withdrawn,  // remembered: cancelled while it waited
  discarded,  // remembered: cancelled while dead
};
inline constexpr Place kPlaces[] = {
    Place::absent, Place::scheduled, Place::ready,     Place::leased,    Place::stopping,
    Place::dead,   Place::acked,     Place::cancelled, Place::withdrawn, Place::discarded};
[[nodiscard]] std::string_view to_string(Place place);
[[nodiscard]] inline bool is_remembered(Place place) { return place >= Place::acked; }

inline constexpr std::string_view kOldPayload = "old payload";
inline constexpr std::string_view kBuryReason = "poison pill";
inline constexpr Millis kRemember = hours(1);

struct Placed {
  std::uint64_t id = 0;                   // 0: absent
  std::int64_t due_ms = 0;                // of what is there
  std::int64_t settled_ms = 0;            // remembered only
  std::string live;                       // the receipt that still counts: leased, stopping
  std::string acked_by;                   // the receipt that ended it: acked
  std::vector<std::string> old_receipts;  // the ones that do not count
};

/// Brings a message of that key there. Configures the queue to remember; moves the clock a little.
[[nodiscard]] Placed put(const Queue& queue, ManualClock& clock, std::string_view key, Place place);

}  // namespace tarry::contract
