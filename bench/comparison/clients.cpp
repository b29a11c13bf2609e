#include "comparison/measures.h"

namespace tarry::bench {

void make_queue(const Entry& entry, const Place& place) {
  if ((entry.needs & kJava) == 0) entry.open(place, Role::producer)->clear();
}

Clients::Clients(const Job& job) : producer_(job.entry.open(job.place, Role::producer)) {
  if (!job.entry.in_process) consumer_ = job.entry.open(job.place, Role::consumer);
}

}  // namespace tarry::bench
