// The facts about a layout's message.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <tarry/message.h>

#include "engines/redis/layouts/keys/layout_names.h"
#include "engines/redis/records/layout_spec.h"

namespace tarry::redis {

/// Reads the values that layout_describe.lua returns.
[[nodiscard]] MessageInfo layout_info(const LayoutSpec& spec, const LayoutKeys& keys,
                                      std::string_view key, std::string_view state,
                                      std::string_view due, std::string_view lease_left,
                                      std::int64_t attempts);
/// Extracts the payload from the bytes that Redis keeps.
[[nodiscard]] std::string layout_payload(const LayoutSpec& spec, std::string_view body);
/// Why an entry in that state is no message: it is a member without a body, a body without a member
/// (dead), or an entry that is set aside.
[[nodiscard]] std::string stray_reason(Layout layout, State state);

}  // namespace tarry::redis
