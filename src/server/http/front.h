// Front: tarry's /v1 over HTTP.
//
// It serves this machine only: over a network a token in clear text is not enough.
//
// Thread safety: the server's thread only.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "server/http/routes.h"
#include "server/metrics/relay_figures.h"
#include "server/session/front.h"

namespace tarry::http {

struct FrontOptions {
  /// Names by which clients may call it, besides localhost and the loopback addresses. A browser
  /// that was lured to another name for this address is refused.
  std::vector<std::string> hosts = {};

  std::uint32_t max_head_bytes = 16 * 1024;         // beyond: 431
  Millis head_deadline = std::chrono::seconds(30);  // from the first byte: 408; to it, at first
  Millis body_deadline = std::chrono::seconds(30);  // from the head's end: 408

  /// Set: POST /v1/clock/advance and suspend call it with milliseconds (`tarry serve
  /// --test-clock`).
  std::function<void(std::int64_t)> advance_clock = {};
  /// Set: POST /v1/clock/step calls it with milliseconds of either sign; the wall clock alone
  /// moves.
  std::function<Result<void>(std::int64_t)> step_clock = {};
  /// The store's clock, for ages in /metrics. Default: the system's.
  std::function<Time()> now = {};
  /// Relays that run beside the server, for /metrics. Default: none.
  std::function<std::vector<metrics::RelayFigures>()> relays = {};
};

class Front final : public session::Front {
 public:
  Front(session::ServerContext& context, FrontOptions options);

  [[nodiscard]] std::shared_ptr<session::Connection> connect(listening::Socket socket) override;

  [[nodiscard]] const FrontOptions& options() const noexcept { return options_; }
  /// The current state.
  [[nodiscard]] const Service& service();

 private:
  const FrontOptions options_;
  Service service_;
};

/// For an address at which a server listens.
[[nodiscard]] session::MakeFront make_front(FrontOptions options);

}  // namespace tarry::http
