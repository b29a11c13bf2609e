// Rights: the scope that a route needs, on which queues, and the 403 of a client without it. The
// table of routes (routes.cpp) has a Need for each route.
//
// Whether a queue exists plays no part: a queue that a client may not see, and a queue that does
// not exist, get the same answer.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <tarry/settings.h>

#include "core/request.h"
#include "server/http/handlers/response.h"
#include "server/identity/identity.h"
#include "server/metrics/relay_figures.h"

namespace tarry::http {

/// On which queues a route needs its scope.
enum class Reach : std::uint8_t {
  open,      // no token is needed
  known,     // any valid token
  path,      // on the queue in the path
  body,      // on every queue that the body names; the handler checks it
  receipts,  // on some queue; a receipt of any other queue is stale
  answer,    // on some queue; the answer is silent about all other queues
  schedule,  // on the schedule's queue; the handler checks it
  store,     // on every queue
};
[[nodiscard]] std::string_view to_string(Reach reach) noexcept;

struct Need {
  identity::Scope scope = identity::Scope::admin;  // without meaning for `open` and `known`
  Reach reach = Reach::store;
};

/// The 403 for a client without the scope on the queues that can be told before the body is read.
/// `queue`: that of the path.
[[nodiscard]] std::optional<Response> check_rights(const identity::Identity& identity, Need need,
                                                   std::string_view queue);
/// The 403 for a client without the scope on this queue.
[[nodiscard]] std::optional<Response> check_queue(const identity::Identity& identity,
                                                  identity::Scope scope, std::string_view queue);

/// The error of a client without the scope on this queue.
[[nodiscard]] Error lacking(const identity::Identity& identity, identity::Scope scope,
                            std::string_view queue);

/// The queues to which a request by receipts is confined.
[[nodiscard]] core::OnlyQueues confined_to(const identity::IdentityPtr& identity);

/// Removes the queues that the client may not read and, unless it may read all, the figures that
/// tell of all queues together.
void leave_out_unseen(StoreStats& stats, const identity::Identity& identity);
/// Removes the relays that serve queues that the client may not read.
void leave_out_unseen(std::vector<metrics::RelayFigures>& relays,
                      const identity::Identity& identity);

}  // namespace tarry::http
