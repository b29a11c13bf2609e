#include "server/sqs/operations/operations.h"

#include <algorithm>
#include <array>

namespace tarry::sqs {
namespace {

using audit::Act;

constexpr std::array kOperations = {
    Operation{"SendMessage", send_message},
    Operation{"SendMessageBatch", send_message_batch},
    Operation{"ReceiveMessage", receive_message},
    Operation{"DeleteMessage", delete_message, true},
    Operation{"DeleteMessageBatch", delete_message_batch, true},
    Operation{"ChangeMessageVisibility", change_visibility, true},
    Operation{"ChangeMessageVisibilityBatch", change_visibility_batch, true},
    Operation{"CreateQueue", create_queue, false, Act::configure},
    Operation{"GetQueueUrl", get_queue_url},
    Operation{"ListQueues", list_queues},
    Operation{"DeleteQueue", delete_queue, false, Act::remove},
    Operation{"PurgeQueue", purge_queue, false, Act::purge},
    Operation{"GetQueueAttributes", get_queue_attributes},
    Operation{"SetQueueAttributes", set_queue_attributes, false, Act::configure},
    Operation{"TagQueue", tag_queue},
    Operation{"UntagQueue", untag_queue},
    Operation{"ListQueueTags", list_queue_tags},
    Operation{"ListDeadLetterSourceQueues", list_sources},
    Operation{"StartMessageMoveTask", start_move, false, Act::move_away},
    Operation{"ListMessageMoveTasks", list_moves},
    Operation{"CancelMessageMoveTask", cancel_move},
};

}  // namespace

std::span<const Operation> operations() noexcept { return kOperations; }

const Operation* find_operation(std::string_view name) noexcept {
  const auto found = std::ranges::find(kOperations, name, &Operation::name);
  return found == kOperations.end() ? nullptr : &*found;
}

}  // namespace tarry::sqs
