// Requests that this engine cannot carry out. Each error names the reason.
//
// Thread safety: pure functions.
#pragma once

#include <optional>

#include <tarry/result.h>

#include "core/request.h"

namespace tarry::rabbitmq {

[[nodiscard]] std::optional<Error> refusal_of(const core::Request& request);
/// The same for one message of a push.
[[nodiscard]] std::optional<Error> refusal_of(const core::PushItem& item);

}  // namespace tarry::rabbitmq
