// The HTTP server: tarry's /v1 over one engine, whichever that is.
//
// One thread runs it. A request that asks the engine is answered when the engine has answered; a
// waiting claim holds its connection and nothing else. What a claim took and could not be handed
// over (the client hung up, the write failed) is released, its attempt not counted.
//
// It answers this machine only: what goes over a network wants more than a token in clear text.
//
// Thread safety: all members may be called from any thread but its own; the callbacks run on its
// own, and must be quick.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/log.h>
#include <tarry/result.h>
#include <tarry/time.h>

#include "core/engine.h"
#include "server/metrics/relay_figures.h"

namespace tarry::listening {
class ReservedPort;
}

namespace tarry::http {

/// A request that was answered, for a log. What it was about is not told: no queue, key or payload.
struct RequestNote {
  std::string_view id;      // X-Request-ID: the client's if it gave one that is fit for a log
  std::string_view method;  // as it was sent; empty where it could not be read
  std::string_view route;   // "/v1/queues/*/messages", or "none"
  unsigned status = 0;
  // Of 401 and 429, and where the server is why: from 500 on, and 200 where the store failed at
  // items of a batch. It stands in one note a second of each status.
  std::string_view reason;
  // Notes of the same status that were left out before this one: of those with a reason the reason,
  // of requests that were not let in the whole note.
  std::uint64_t left_out = 0;
  std::chrono::microseconds took{0};  // from the head's end to the answer
};

/// Bodies that settle, extend or cancel come in while too much is held, so many bytes of them
/// together: without them what was done would be done again.
inline constexpr std::uint64_t kSettleReserve = 32ull << 20;

/// What may be changed while it serves.
struct ServerLimits {
  // Beyond, the one that is idle for the longest is closed; where none is, 503.
  std::size_t max_connections = 10'000;
  std::uint64_t max_body_bytes = 192ull << 20;  // beyond: 413; a full batch in base64 fits
  // Bodies of all connections as far as they have come, a half of this, and answers from when the
  // engine gives them until they are taken, the other; one peer's, a half of either. Where those of
  // others are beyond, 429 to bodies that still come, or to what reads. So none is too large where
  // nothing else is held, and one body more and one answer more may stand there.
  std::uint64_t max_held_bytes = 1ull << 30;
  Millis idle_deadline = std::chrono::minutes(5);  // between requests
};

struct ServerOptions : ServerLimits {
  std::string address = "127.0.0.1";  // a loopback address, or localhost
  std::uint16_t port = 7733;          // 0: any that is free
  /// Set: listens on a unix socket there, mode 0600, in place of an address and a port.
  std::string unix_path = {};
  /// Names by which clients may call it, besides localhost and the loopback addresses. A browser
  /// that was lured to another name for this address is refused.
  std::vector<std::string> hosts = {};
  /// Not empty: every request but GET and HEAD of /, /healthz and /readyz must carry it, as
  /// `Authorization: Bearer TOKEN`; else 401. As base::check_server_token wants it.
  std::string token = {};

  std::uint32_t max_head_bytes = 16 * 1024;          // beyond: 431
  Millis head_deadline = std::chrono::seconds(30);   // from the first byte: 408; to it, at first
  Millis body_deadline = std::chrono::seconds(30);   // from the head's end: 408
  Millis write_deadline = std::chrono::seconds(30);  // without any progress

  /// Set: POST /v1/clock/advance and suspend call it with milliseconds (`tarry serve
  /// --test-clock`).
  std::function<void(std::int64_t)> advance_clock = {};
  /// Set: POST /v1/clock/step calls it with milliseconds of either sign; the wall clock alone
  /// moves.
  std::function<Result<void>(std::int64_t)> step_clock = {};
  /// The store's clock, for ages in /metrics. Default: the system's.
  std::function<Time()> now = {};
  /// Relays that work beside the server, for /metrics. Default: none.
  std::function<std::vector<metrics::RelayFigures>()> relays = {};
  /// Told of what its operator should know. Default: nobody.
  Log log = {};
  /// Told of every request when it is answered. Default: nobody.
  std::function<void(const RequestNote&)> on_request = {};
};

class Server {
 public:
  /// The engine must outlive the server, and still answer while the server stops.
  Server(core::Engine& engine, ServerOptions options);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();  // stops

  /// Listens, and answers the port, 0 for a unix socket. Once. Errors: `invalid_argument` for an
  /// address that is none or not loopback, a path that is too long or a token that is too short,
  /// `conflict` where the port or the path is taken, `permission_denied`, `io_error`.
  [[nodiscard]] Result<std::uint16_t> start();
  /// The same in a place that was kept for it; the options' own is passed over.
  [[nodiscard]] Result<std::uint16_t> start(listening::ReservedPort place);

  /// From now on this one is asked for; empty: none. Claims that wait under another one end with
  /// 401. Errors: `invalid_argument` for what base::check_server_token refuses; all stays as it
  /// was.
  [[nodiscard]] Result<void> set_token(std::string token);

  /// From now on these hold, for what is begun from then on.
  void set_limits(const ServerLimits& limits);

  /// Takes no more connections, ends waiting claims (with what they have, else 503 `closing`),
  /// finishes every request that was begun or is on its way (within a moment), closes the rest.
  /// `done` runs once that is so or the deadline has passed, with the number of connections that
  /// were still open; a second drain's at once. Then `stop`.
  void drain(Millis deadline, std::function<void(std::size_t open)> done);

  /// Closes every connection, drops what `drain` was to call, releases what claims could not hand
  /// over, and returns when the engine has answered everything. Idempotent.
  void stop();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::http
