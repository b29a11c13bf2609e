// The handlers that the route table names, one for each route.
#pragma once

#include "server/http/handlers/routes.h"

namespace tarry::http {

/// Fills in how queues keep their objectives. `meter`: null if nothing is measured.
void tell_objectives(StoreStats& stats, metrics::Meter* meter);

// Messages of a queue.
[[nodiscard]] Routed push(Asked& asked);
[[nodiscard]] Routed push_many(Asked& asked);
[[nodiscard]] Routed list(Asked& asked);
[[nodiscard]] Routed get_one(Asked& asked);
[[nodiscard]] Routed get_many(Asked& asked);
[[nodiscard]] Routed why(Asked& asked);
[[nodiscard]] Routed history(Asked& asked);
[[nodiscard]] Routed cancel(Asked& asked);
[[nodiscard]] Routed reschedule(Asked& asked);
[[nodiscard]] Routed bulk(Asked& asked);

// Messages on their way from one store to another.
[[nodiscard]] Routed import_messages(Asked& asked);
[[nodiscard]] Routed move_away(Asked& asked);

// Claims of any queue.
[[nodiscard]] Routed claim(Asked& asked);
[[nodiscard]] Routed settle(Asked& asked);
[[nodiscard]] Routed extend(Asked& asked);

// Whole queues.
[[nodiscard]] Routed queue_list(Asked& asked);
[[nodiscard]] Routed queue_info(Asked& asked);
[[nodiscard]] Routed configure(Asked& asked);
[[nodiscard]] Routed pause(Asked& asked);
[[nodiscard]] Routed resume(Asked& asked);
[[nodiscard]] Routed purge(Asked& asked);
[[nodiscard]] Routed remove_queue(Asked& asked);
[[nodiscard]] Routed revive(Asked& asked);
[[nodiscard]] Routed reshard(Asked& asked);
[[nodiscard]] Routed forecast(Asked& asked);

// Schedules. The name is in Asked::queue.
[[nodiscard]] Routed list_schedules(Asked& asked);
[[nodiscard]] Routed get_schedule(Asked& asked);
[[nodiscard]] Routed put_schedule(Asked& asked);
[[nodiscard]] Routed remove_schedule(Asked& asked);
[[nodiscard]] Routed pause_schedule(Asked& asked);
[[nodiscard]] Routed resume_schedule(Asked& asked);
[[nodiscard]] Routed run_schedule(Asked& asked);
[[nodiscard]] Routed list_occurrences(Asked& asked);

// The server.
[[nodiscard]] Routed about(Asked& asked);
[[nodiscard]] Routed health(Asked& asked);
[[nodiscard]] Routed ready(Asked& asked);
[[nodiscard]] Routed stats(Asked& asked);
[[nodiscard]] Routed metrics_page(Asked& asked);
[[nodiscard]] Routed openapi(Asked& asked);
[[nodiscard]] Routed advance_clock(Asked& asked);  // also serves suspend, whose request is the same
[[nodiscard]] Routed step_clock(Asked& asked);

// The clients that are connected, the acts of the audit log, and the console's sessions. A
// session's id is in Asked::queue.
[[nodiscard]] Routed list_clients(Asked& asked);
[[nodiscard]] Routed list_acts(Asked& asked);
[[nodiscard]] Routed list_sessions(Asked& asked);
[[nodiscard]] Routed end_session(Asked& asked);

// The console.
[[nodiscard]] Routed console_page(Asked& asked);
[[nodiscard]] Routed console_asset(Asked& asked);
[[nodiscard]] Routed console_session(Asked& asked);
[[nodiscard]] Routed console_login(Asked& asked);
[[nodiscard]] Routed console_logout(Asked& asked);
[[nodiscard]] Routed console_events(Asked& asked);

}  // namespace tarry::http
