// The figures by id, and the functions that measure them. The list is written by hand: nothing
// registers itself.
#pragma once

#include <string_view>
#include <vector>

#include "harness/run.h"

namespace tarry::bench {

/// One measurement. It yields one figure, or several that are measured together.
struct Measurement {
  std::vector<std::string_view> ids;
  void (*measure)(Run& run);
};

[[nodiscard]] const std::vector<Measurement>& measurements();

// lifecycle_figures.cpp
void measure_against_rocksdb(Run& run);     // F1, F2
void measure_against_lmdb(Run& run);        // F3, F3s
void measure_group_commit(Run& run);        // F4: thread_figures.cpp
void measure_pending(Run& run);             // F5: pending_figures.cpp
void measure_footprint(Run& run);           // F6, F8: footprint_figures.cpp
void measure_churn(Run& run);               // F7: churn_figures.cpp
void measure_lateness(Run& run);            // F9: lateness_figures.cpp
void measure_spike(Run& run);               // F10: spike_figures.cpp
void measure_in_redis(Run& run);            // F11, F11m: redis_figures.cpp
void measure_in_redis_by_key(Run& run);     // F11k
void measure_in_redis_with_aof(Run& run);   // F11e
void measure_against_redisson(Run& run);    // F12: redisson_figures.cpp
void measure_jobs(Run& run);                // F13, F14: job_figures.cpp
void measure_relay_to_rabbitmq(Run& run);   // F16: relay_figures.cpp
void measure_with_little_ram(Run& run);     // F17: tight_figures.cpp
void measure_sqs(Run& run);                 // F18, F18r: sqs_figures.cpp
void measure_schedules(Run& run);           // F21, F21l: schedule_figures.cpp
void measure_against_beanstalkd(Run& run);  // F22, F24, F24r: served_figures.cpp
void measure_against_nats(Run& run);        // F23
void measure_over_http(Run& run);           // F25, F25b
void measure_tls(Run& run);                 // F26, F26s: tls_figures.cpp

}  // namespace tarry::bench
