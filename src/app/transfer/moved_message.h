// Rules that migration and import share: which messages can be moved, in which form they are put
// into the other store, and how to tell that a message is there already.
//
// Thread safety: pure functions, except for `get_messages`, which blocks the calling thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/message.h>
#include <tarry/result.h>

#include "core/engine.h"
#include "core/request.h"

namespace tarry::app {

/// Whether the message is scheduled, ready or dead, that is, neither leased nor settled.
[[nodiscard]] bool can_move(const MessageInfo& message) noexcept;

/// Whether the error concerns this one message, so that others may succeed.
[[nodiscard]] bool concerns_one(const Error& error) noexcept;

/// Whether `there` is a copy of `here`.
[[nodiscard]] bool is_same(const MessageInfo& here, const MessageInfo& there);

/// The item that puts the message into the other store, where it never overwrites an existing
/// message. Its strings are appended to `bytes`, the request's.
[[nodiscard]] Result<core::MoveItem> move_item_of(const MessageInfo& message, std::string& bytes);

/// Reads as many messages as fit into one request and its answer, payloads included, and removes
/// their keys from `keys`. Missing messages are left out. `damaged(key, error)` is called for each
/// message that cannot be read, or whose request a server refuses as too large.
[[nodiscard]] Result<std::vector<MessageInfo>> get_messages(
    core::Engine& engine, const std::string& queue, std::vector<std::string>& keys,
    const std::function<void(const std::string& key, const Error& error)>& damaged);

/// The error if nothing can be moved out of the store of that name, or into it; nothing if it can.
[[nodiscard]] std::optional<Error> refuse_moves_from(const core::Engine& engine,
                                                     std::string_view name);
[[nodiscard]] std::optional<Error> refuse_moves_to(const core::Engine& engine,
                                                   std::string_view name);

}  // namespace tarry::app
