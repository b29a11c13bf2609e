// Shared by moving and importing messages: which can be moved, in which form they are put into the
// other store, and how to tell that one is there already.
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

/// Scheduled, ready or dead: neither leased nor settled.
[[nodiscard]] bool can_move(const MessageInfo& message) noexcept;

/// An error of one message alone: the others may fare better.
[[nodiscard]] bool concerns_one(const Error& error) noexcept;

/// `there` is the copy that was made of `here`.
[[nodiscard]] bool is_same(const MessageInfo& here, const MessageInfo& there);

/// Strings go to `bytes`, the request's. An existing message is never overwritten.
[[nodiscard]] Result<core::MoveItem> move_item_of(const MessageInfo& message, std::string& bytes);

/// Reads as many as fit into a request and its answer, payloads included; the rest stays in `keys`.
/// Missing ones are left out. `damaged(key, error)` is called for messages that cannot be read or
/// requested: a server may accept smaller bodies than one key makes.
[[nodiscard]] Result<std::vector<MessageInfo>> get_messages(
    core::Engine& engine, const std::string& queue, std::vector<std::string>& keys,
    const std::function<void(const std::string& key, const Error& error)>& damaged);

/// Why nothing can be moved out of the store of that name, or into it; or nothing.
[[nodiscard]] std::optional<Error> refuse_moves_from(const core::Engine& engine,
                                                     std::string_view name);
[[nodiscard]] std::optional<Error> refuse_moves_to(const core::Engine& engine,
                                                   std::string_view name);

}  // namespace tarry::app
