// An HTTP/1.1 client for one server: a few kept connections, with one request at a time on each;
// further requests wait for their turn, at most until their deadline. A request may ask for its own
// connection, so that a long wait does not delay others. An urgent request may ask for one of a few
// reserved connections, so that it does not wait for ordinary requests.
//
// After a failure the caller must know whether the request had been sent, because the outcome of a
// request that was sent is unknown. A request that was not sent completely was not carried out. If
// the reason was that a kept connection had died meanwhile, the request is sent once more.
//
// Over TLS, nothing of a request is sent before the server's certificate and name are checked. Once
// the server has answered a request, a check that fails later is `unavailable`: the certificate
// changed while the client ran, so it may change again.
//
// A server that answers 401 has not carried the request out. If there is another token by then, the
// request is sent once more with it. So a token can be replaced while requests are under way.
//
// Thread safety: none. Everything happens on the io_context's thread, callbacks included.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/http/http_message.h"
#include "net/http/http_parser.h"
#include "net/tls/tls_options.h"

namespace boost::asio {
class io_context;
}

namespace tarry::net {

struct HttpClientOptions {
  std::string host;  // a host name or an address
  std::uint16_t port = 80;
  std::string unix_path = {};   // of a unix socket (at most 107 bytes), instead of host and port
  std::size_t connections = 4;  // the most that may be open for requests on the common lane
  std::size_t reserved = 0;     // the most besides these, for the reserved lane
  std::int64_t connect_timeout_ms = 5'000;
  std::int64_t idle_timeout_ms = 60'000;  // shorter than that of servers, so that a server rarely
                                          // closes first
  HttpLimits limits = {64 * 1024, 1ull << 30};
  std::string token = {};  // sent with every call; empty: none
  // Gives the token that is valid now, when a server has refused the one before. Called on the
  // io_context's thread; it must be quick. An empty result, or no function: there is no other.
  std::function<std::string()> renew_token = {};
  std::string user_agent = {};         // sent with every call; empty: none
  std::optional<TlsOptions> tls = {};  // not for a unix socket
};

enum class HttpLane : std::uint8_t {
  common,
  reserved,  // a reserved connection, or a common one if that is free first
  own,       // begins at once
};

struct HttpCall {
  std::string_view method;  // of static lifetime
  std::string target;
  std::string body;
  std::string_view content_type;     // of static lifetime; empty: none
  std::int64_t timeout_ms = 30'000;  // from `send` to the end of the answer
  HttpLane lane = HttpLane::common;
};

/// Why a call has no answer: `unknown_outcome` if the request was sent, otherwise `unavailable`; or
/// `invalid_argument` if the server's certificate was refused, or only one side speaks TLS; or
/// `permission_denied` if the server refused the client's certificate. The message names the
/// server.
struct HttpFailure {
  Error error;
  bool sent = false;
};
using HttpAnswer = std::variant<HttpMessage, HttpFailure>;

class HttpClient {
 public:
  using Id = std::uint64_t;
  /// Runs exactly once per call, never within `send`.
  using Done = base::UniqueFunction<void(HttpAnswer)>;

  HttpClient(boost::asio::io_context& io, HttpClientOptions options);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();  // closes

  Id send(HttpCall call, Done done);

  /// Call `hang_up` when the caller no longer waits. A request that was not sent is dropped. For a
  /// request that was sent, the client closes its side of the connection, which tells the server,
  /// and waits a short time for an answer that may be on its way. `done` runs in both cases.
  void hang_up(Id id);

  /// Fails outstanding requests, and closes. `send` fails from then on.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tarry::net
