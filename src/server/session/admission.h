// Admission: which clients are connected, and which may connect.
//
// Invariants
//  1. At most `max_connections` are open, and in addition a reserve of a quarter of that number,
//     but not more than 100. The reserve serves probes and requests that settle, and it refuses
//     other requests, which would otherwise get no answer.
//     A peer with `connections_per_peer` connections has such a reserve of its own. If that is full
//     too, its connections are closed at once.
//  2. If there are too many connections, the one that has been idle for the longest is closed,
//     because silent connections would keep all other clients out. A client that only kept its
//     connection open connects again.
//  3. `emptied` is called whenever the last connection has closed.
//
// Thread safety: the server's thread only.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "server/listening/stream.h"
#include "server/session/connection.h"
#include "server/session/front.h"
#include "server/session/server_context.h"
#include "server/session_parts/log_throttle.h"

namespace tarry::session {

class Admission {
 public:
  /// The context must outlive it. It sets the context's `closed`, so that it is told of closed
  /// connections, and `clients`.
  Admission(ServerContext& context, std::function<void()> emptied);
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  /// Lets the front make a connection from the stream, and starts it; or closes the stream.
  void admit(Front& front, listening::Stream stream);

  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }

  /// Visits the connections that are open at the call; they may close during the visits.
  template <typename Visit>
  void for_each(Visit visit) {
    std::vector<std::shared_ptr<Connection>> open;
    open.reserve(open_.size());
    for (const auto& [key, connection] : open_) open.push_back(connection);
    for (const auto& connection : open) visit(*connection);
  }

 private:
  [[nodiscard]] std::vector<Client> clients() const;
  void close_an_idle_one();
  void on_closed(Connection* connection);

  ServerContext& context_;
  const std::function<void()> emptied_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> open_;
  LogThrottle refusals_;
};

}  // namespace tarry::session
