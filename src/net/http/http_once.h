// One blocking HTTP call, for commands that send a server a single request.
//
// Thread safety: blocks the calling thread, and does everything on it.
#pragma once

#include "net/http/http_client.h"

namespace tarry::net {

/// Connects, sends the call, receives the answer, and closes the connection.
[[nodiscard]] HttpAnswer http_once(HttpClientOptions options, HttpCall call);

}  // namespace tarry::net
