// An HTTP/1.1 client for one server: a few connections that are kept, one request at a time on
// each, more requests wait their turn, to their deadline at most. A request may ask for a
// connection of its own (one that waits long must not stand in the others' way), or for one of
// those that are reserved (one that is urgent must not stand behind others, and many such must not
// be as many connections).
//
// What matters to the caller when something fails is whether the request had been sent: then
// nobody knows what became of it. One that was not sent whole was not carried out; on a connection
// that had been kept, and had died meanwhile, it is sent again once.
//
// Thread safety: none. Everything happens on the io_context's thread, callbacks included.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "net/http_message.h"
#include "net/http_parser.h"

namespace boost::asio {
class io_context;
}

namespace tarry::net {

struct HttpClientOptions {
  std::string host;  // a name or an address
  std::uint16_t port = 80;
  std::string unix_path = {};   // a unix socket's, of at most 107 bytes, in place of host and port
  std::size_t connections = 4;  // at most, for requests on the common lane
  std::size_t reserved = 0;     // at most, beside them, for those on the reserved lane
  std::int64_t connect_timeout_ms = 5'000;
  std::int64_t idle_timeout_ms = 60'000;  // shorter than servers', so that they seldom close first
  HttpLimits limits = {64 * 1024, 1ull << 30};
  std::string token = {};       // sent with every call; empty: none
  std::string user_agent = {};  // the same
};

enum class HttpLane : std::uint8_t {
  common,
  reserved,  // a connection reserved for such, or a common one where that is free first
  own,       // begins at once
};

struct HttpCall {
  std::string_view method;  // of static lifetime
  std::string target;
  std::string body;
  std::string_view content_type;     // of static lifetime; empty: none
  std::int64_t timeout_ms = 30'000;  // from `send` to the answer's end
  HttpLane lane = HttpLane::common;
};

/// `unavailable` when it was not sent, `unknown_outcome` when it was. The message names the server.
struct HttpFailure {
  Error error;
  bool sent = false;
};
using HttpAnswer = std::variant<HttpMessage, HttpFailure>;

class HttpClient {
 public:
  using Id = std::uint64_t;
  /// Runs exactly once a call, never within `send`.
  using Done = base::UniqueFunction<void(HttpAnswer)>;

  HttpClient(boost::asio::io_context& io, HttpClientOptions options);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();  // closes

  Id send(HttpCall call, Done done);

  /// The caller waits no longer. What was not sent is dropped; else our side of the connection is
  /// closed, which tells the server, and its answer is awaited for a short while all the same:
  /// it may have been on its way. `done` runs either way.
  void hang_up(Id id);

  /// Fails what is outstanding, and closes. `send` fails from then on.
  void close();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace tarry::net
