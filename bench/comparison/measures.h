// The measures of a design, and how much work each of them does. Each measure runs in a process of
// its own, with an empty queue.
//
// Thread safety: none.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "comparison/hosts.h"
#include "designs/compared.h"

namespace tarry::bench {

/// By name; the page's script (page.py) knows the names.
using Results = std::map<std::string, double>;

/// How much is done; the page says it too, under "How it was measured".
struct Effort {
  std::uint64_t rate_messages;  // pushed, and claimed, as fast as it goes
  std::int64_t box_ms;          // but no longer than this
  std::int64_t rounded_ms;      // how much later designs may have them that round delays up
  std::uint64_t per_second;     // lateness: messages a second,
  std::int64_t push_ms;         // for so long,
  std::int64_t delay_ms;        // with delays of 0 to this at random,
  std::int64_t grace_ms;        // and how late the last may come to be counted
  std::vector<std::uint64_t> pending;
  std::int64_t fill_ms;  // the longest that is pushed for one of them
  std::uint64_t among;   // messages pushed and claimed among those pending
  std::uint64_t kill_per_second;
  std::int64_t kill_delay_ms;
  int kills;
  std::int64_t kill_after_ms;  // of its first message: half as much to half as much again
  std::int64_t kill_lease_ms;
  std::int64_t kill_idle_ms;  // no message for so long: there are no more
  std::int64_t long_ms;       // the delay that a short one stands behind
  unsigned longest_s;         // a measure that takes longer has failed
};
[[nodiscard]] const Effort& full_effort();
[[nodiscard]] const Effort& quick_effort();

struct Job {
  const Entry& entry;
  const Hosts& hosts;
  Place place;
  const Effort& effort;
};

/// Makes the design's queue where it has to be made, and empties it. A Java client has nothing to
/// make: its Redis is new, and starting one takes seconds.
void make_queue(const Entry& entry, const Place& place);

/// The clients of one process: two, or twice the same where the queue lives in it.
class Clients {
 public:
  explicit Clients(const Job& job);
  [[nodiscard]] Compared& producer() const { return *producer_; }
  [[nodiscard]] Compared& consumer() const { return consumer_ ? *consumer_ : *producer_; }

 private:
  std::unique_ptr<Compared> producer_;
  std::unique_ptr<Compared> consumer_;
};

/// push_rate, claim_rate, lifecycle_rate: messages a second; commands, redis_us: a message.
void measure_rates(const Job& job, Results& results);
/// lateness_p50_ms, _p90_, _p99_, _max_; lateness_missing, lateness_early: messages.
void measure_lateness(const Job& job, Results& results);
/// For each count of pending messages: growth_N_push_us, growth_N_claim_us; absent where nothing
/// came out in time. memory_bytes, disk_bytes: a message.
void measure_growth(const Job& job, Results& results);
/// kills, kill_pushed, kill_lost, kill_doubled.
void measure_kills(const Job& job, Results& results);
/// short_late_ms; absent where the short one did not come before the long one was due and a second.
void measure_line(const Job& job, Results& results);
/// cancel, reschedule: 1 where the design can, and did.
void measure_changes(const Job& job, Results& results);
/// calm_pushed, calm_lost, calm_doubled, calm_early.
void measure_calm(const Job& job, Results& results);

}  // namespace tarry::bench
