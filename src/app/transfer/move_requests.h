// Requests that move messages between stores: put there, take away here. A server may accept
// smaller bodies than a batch of messages makes. A request that it refuses as too large is sent in
// halves, down to one message, which then has that error. After any other error the rest is not
// requested, and has that error too.
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

/// A result a message. An error: none of them was put there, or it is not known.
[[nodiscard]] Result<std::vector<core::PushResult>> put_there(
    core::Engine& engine, const std::string& queue, std::span<const MessageInfo> messages);

/// The same of messages that live in another store now: those go that still are as they are here.
[[nodiscard]] Result<std::vector<core::ItemResult>> take_away_seen(
    core::Engine& engine, const std::string& queue, std::span<const MessageInfo> messages);

}  // namespace tarry::app
