// The operations of SQS. Each checks its parameters and the client's rights, and returns its first
// step. The table says what the connection has to know about an operation before it runs.
//
// Thread safety: the server's thread only.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "server/audit/act.h"
#include "server/sqs/protocol/call.h"

namespace tarry::sqs {

// Messages.
[[nodiscard]] Step send_message(const CallPtr& call);
[[nodiscard]] Step send_message_batch(const CallPtr& call);
[[nodiscard]] Step receive_message(const CallPtr& call);
[[nodiscard]] Step delete_message(const CallPtr& call);
[[nodiscard]] Step delete_message_batch(const CallPtr& call);
[[nodiscard]] Step change_visibility(const CallPtr& call);
[[nodiscard]] Step change_visibility_batch(const CallPtr& call);

// Queues.
[[nodiscard]] Step create_queue(const CallPtr& call);
[[nodiscard]] Step get_queue_url(const CallPtr& call);
[[nodiscard]] Step list_queues(const CallPtr& call);
[[nodiscard]] Step delete_queue(const CallPtr& call);
[[nodiscard]] Step purge_queue(const CallPtr& call);
[[nodiscard]] Step get_queue_attributes(const CallPtr& call);
[[nodiscard]] Step set_queue_attributes(const CallPtr& call);

[[nodiscard]] Step tag_queue(const CallPtr& call);
[[nodiscard]] Step untag_queue(const CallPtr& call);
[[nodiscard]] Step list_queue_tags(const CallPtr& call);

// Dead-letter queues.
[[nodiscard]] Step list_sources(const CallPtr& call);
[[nodiscard]] Step start_move(const CallPtr& call);
[[nodiscard]] Step list_moves(const CallPtr& call);
[[nodiscard]] Step cancel_move(const CallPtr& call);

struct Operation {
  std::string_view name;
  Step (*run)(const CallPtr& call);
  bool leaves_less = false;  // settles, extends or cancels
  std::optional<audit::Act> act = std::nullopt;
};

[[nodiscard]] std::span<const Operation> operations() noexcept;
/// Null if SQS has no such operation, or tarry does not offer it.
[[nodiscard]] const Operation* find_operation(std::string_view name) noexcept;

}  // namespace tarry::sqs
