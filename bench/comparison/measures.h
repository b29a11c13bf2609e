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

/// Results by name; the page's script (page.py) knows the names.
using Results = std::map<std::string, double>;

/// How much work is done; the page says it too, under "How it was measured".
struct Effort {
  std::uint64_t rate_messages;  // pushed, and claimed, as fast as possible
  std::int64_t box_ms;          // but no longer than this
  std::int64_t rounded_ms;      // how much later a message may come in designs that round delays up
  std::uint64_t per_second;     // lateness: messages a second,
  std::int64_t push_ms;         // for this long,
  std::int64_t delay_ms;        // with delays of 0 to this at random,
  std::int64_t grace_ms;        // and how late the last may come to be counted
  std::vector<std::uint64_t> pending;
  std::int64_t fill_ms;  // the longest time to push messages for one of them
  std::uint64_t among;   // messages pushed and claimed among those pending
  std::uint64_t kill_per_second;
  std::int64_t kill_delay_ms;
  int kills;
  // After a consumer's first message, from half of this to one and a half times this.
  std::int64_t kill_after_ms;
  std::int64_t kill_lease_ms;
  std::int64_t kill_idle_ms;  // if no message comes for this long, there are no more
  std::int64_t long_ms;       // the long delay that the short one must not wait for
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

/// Makes the design's queue if the design needs that, and empties it. A Java client has nothing to
/// make: its Redis is new, and starting the client takes seconds.
void make_queue(const Entry& entry, const Place& place);

/// The clients of one process: a producer and a consumer, or one for both if the queue lives in the
/// process.
class Clients {
 public:
  explicit Clients(const Job& job);
  [[nodiscard]] Compared& producer() const { return *producer_; }
  [[nodiscard]] Compared& consumer() const { return consumer_ ? *consumer_ : *producer_; }

 private:
  std::unique_ptr<Compared> producer_;
  std::unique_ptr<Compared> consumer_;
};

/// Results: push_rate, claim_rate, lifecycle_rate (messages per second); commands, redis_us (per
/// message).
void measure_rates(const Job& job, Results& results);
/// Results: lateness_p50_ms, _p90_, _p99_, _max_; lateness_missing, lateness_early (messages).
void measure_lateness(const Job& job, Results& results);
/// Results for each count N of pending messages: growth_N_push_us, growth_N_claim_us (absent if no
/// message was claimed in time); memory_bytes, disk_bytes (per message).
void measure_growth(const Job& job, Results& results);
/// Results: kills, kill_pushed, kill_lost, kill_doubled.
void measure_kills(const Job& job, Results& results);
/// Result: short_late_ms. It is absent if the message with the short delay did not come until one
/// second after the long one was due.
void measure_line(const Job& job, Results& results);
/// Results: cancel, reschedule: 1 if the design can do it, and did.
void measure_changes(const Job& job, Results& results);
/// Results: calm_pushed, calm_lost, calm_doubled, calm_early.
void measure_calm(const Job& job, Results& results);

}  // namespace tarry::bench
