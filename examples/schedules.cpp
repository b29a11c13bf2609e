// A message every morning at nine, on the clock of Berlin, also when that clock changes.
#include <tarry/schedule.h>
#include <tarry/store.h>

#include <iostream>

using namespace std::chrono_literals;

int main() {
  tarry::ManualClock clock;  // begins at 2020-01-01T00:00:00Z
  auto store = tarry::open("memory:", {.clock = clock});
  if (!store) return 1;
  const tarry::Schedules schedules(*store);
  auto added = schedules.put(
      {.name = "report", .when = "0 9 * * *", .zone = "Europe/Berlin", .queue = "reports"});
  auto runner = tarry::ScheduleRunner::start(*store);  // a server would run it, too
  if (!added || !runner) return 1;

  clock.advance(8h);
  auto due = store->queue("reports").claim({.wait = 1h});
  if (!due || due->empty()) return 1;
  std::cout << due->front().key() << "\n";
  return schedules.remove("report") ? 0 : 1;
}
