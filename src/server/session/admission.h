// Admission: which clients are connected, and which may connect.
//
// Invariants
//  1. At most `max_connections` are open, and a reserve of a quarter more, at most 100: for probes,
//     for requests that settle, and to refuse other requests instead of leaving them without an
//     answer.
//  2. If there are too many, the one that has been idle for the longest is closed: silent
//     connections would keep all other clients out. The client of a connection that was only kept
//     open connects again.
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

#include "server/listening/socket.h"
#include "server/session/connection.h"
#include "server/session/front.h"
#include "server/session/log_throttle.h"
#include "server/session/server_context.h"

namespace tarry::session {

class Admission {
 public:
  /// The context outlives it, and is told to call it when a connection has closed.
  Admission(ServerContext& context, std::function<void()> emptied);
  Admission(const Admission&) = delete;
  Admission& operator=(const Admission&) = delete;

  /// Has the front make a connection of it, and starts that; or closes it.
  void admit(Front& front, listening::Socket socket);

  [[nodiscard]] std::size_t open() const noexcept { return open_.size(); }

  /// For connections that are open at the call: they may close meanwhile.
  template <typename Visit>
  void for_each(Visit visit) {
    std::vector<std::shared_ptr<Connection>> open;
    open.reserve(open_.size());
    for (const auto& [key, connection] : open_) open.push_back(connection);
    for (const auto& connection : open) visit(*connection);
  }

 private:
  void close_an_idle_one();
  void on_closed(Connection* connection);

  ServerContext& context_;
  const std::function<void()> emptied_;
  std::unordered_map<Connection*, std::shared_ptr<Connection>> open_;
  LogThrottle refusals_;
};

}  // namespace tarry::session
