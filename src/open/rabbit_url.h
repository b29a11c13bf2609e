// The store URLs amqp: and amqps:, opened.
//
//   amqp://USER:PASSWORD@HOST[:PORT][/VHOST]?rung=100ms&queues=auto|quorum|classic
//     &max_payload=SIZE&heartbeat=10s&password_file=PATH, and of amqps: ca, cert and key
//
// Thread safety: any thread.
#pragma once

#include "open/open_with.h"

namespace tarry::detail {

/// Errors: `unsupported` where the engine is not built in, `invalid_argument` for a bad URL, else
/// as rabbitmq::open_rabbitmq. None shows a password.
[[nodiscard]] EngineResult open_rabbitmq(const RabbitUrl& url, const OpenOptions& options);

}  // namespace tarry::detail
