// Front: one protocol that a server speaks. It makes a connection from each client's stream.
//
// Thread safety: the server's thread only.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "server/listening/stream.h"
#include "server/session/connection.h"
#include "server/session/server_context.h"

namespace tarry::session {

class Front {
 public:
  /// `name`: appears in the names of its metrics and in the audit log, for example "http"; must
  /// live as long as the program.
  Front(ServerContext& context, std::string_view name)
      : context_(context), name_(name), meter_(context.meter.front(name)) {}
  Front(const Front&) = delete;
  Front& operator=(const Front&) = delete;
  virtual ~Front() = default;

  [[nodiscard]] virtual std::shared_ptr<Connection> connect(listening::Stream stream) = 0;

  [[nodiscard]] ServerContext& context() noexcept { return context_; }
  [[nodiscard]] std::string_view name() const noexcept { return name_; }
  [[nodiscard]] metrics::FrontMeter& meter() noexcept { return meter_; }

 private:
  ServerContext& context_;
  const std::string_view name_;
  metrics::FrontMeter& meter_;
};

/// The context must outlive the front.
using MakeFront = std::function<std::unique_ptr<Front>(ServerContext& context)>;

}  // namespace tarry::session
