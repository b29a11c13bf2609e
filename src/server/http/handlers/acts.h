// Acts: the entries of HTTP requests for the audit log, as far as the session cannot make them from
// the request to the engine.
//
// Thread safety: pure functions.
#pragma once

#include <memory>

#include "net/http/http_message.h"
#include "server/audit/entry.h"
#include "server/http/handlers/routes.h"

namespace tarry::http {

/// The entry of a request that is submitted to the engine; null if it is not an act.
[[nodiscard]] std::unique_ptr<audit::Entry> act_of(Submission& submission);

/// The entry of a request that is answered without the engine; null if it is not an act. Nothing of
/// the body is in it, because the body may not have been read.
[[nodiscard]] std::unique_ptr<audit::Entry> refused_act(const net::HttpMessage& message);

}  // namespace tarry::http
