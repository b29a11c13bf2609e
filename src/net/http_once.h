// One HTTP call, waited for: for commands that ask a server a single thing.
//
// Thread safety: blocks the calling thread, on which all of it happens.
#pragma once

#include "net/http_client.h"

namespace tarry::net {

/// Connects, calls, hangs up.
[[nodiscard]] HttpAnswer http_once(HttpClientOptions options, HttpCall call);

}  // namespace tarry::net
