// Front: one protocol that a server speaks: it makes a connection of each client's socket.
//
// Thread safety: the server's thread only.
#pragma once

#include <functional>
#include <memory>

#include "server/listening/socket.h"
#include "server/session/connection.h"
#include "server/session/server_context.h"

namespace tarry::session {

class Front {
 public:
  Front() = default;
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  virtual ~Front() = default;

  [[nodiscard]] virtual std::shared_ptr<Connection> connect(listening::Socket socket) = 0;
};

/// The context outlives the front.
using MakeFront = std::function<std::unique_ptr<Front>(ServerContext& context)>;

}  // namespace tarry::session
