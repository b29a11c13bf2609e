// Requests that move messages between stores: put there, take away here. A batch may be larger than
// the bodies that a server accepts. If the server refuses a request as too large, it is sent in
// halves, down to a single message, whose result is then that error. After any other error the rest
// is not sent, and has that error too.
//
// Thread safety: pure functions that block the calling thread.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <tarry/message.h>
#include <tarry/result.h>

#include "core/engine.h"

namespace tarry::app {

/// Returns one result per message. An error means that no message was put there, or that this is
/// not known.
[[nodiscard]] Result<std::vector<core::PushResult>> put_there(
    core::Engine& engine, const std::string& queue, std::span<const MessageInfo> messages);

/// Takes away messages that live in another store now, but only those that have not changed since
/// they were read. One result per message.
[[nodiscard]] Result<std::vector<core::ItemResult>> take_away_seen(
    core::Engine& engine, const std::string& queue, std::span<const MessageInfo> messages);

}  // namespace tarry::app
