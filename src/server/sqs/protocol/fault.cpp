#include "server/sqs/protocol/fault.h"

#include <array>
#include <cstddef>
#include <utility>

#include "server/session_parts/store_error.h"

namespace tarry::sqs {
namespace {

// In the order of Kind.
constexpr std::array<KindNames, static_cast<std::size_t>(Kind::count_)> kNames = {{
    {"AccessDeniedException", "AccessDenied", 403},
    {"QueueNameExists", "QueueAlreadyExists", 400},
    {"BatchEntryIdsNotDistinct", "AWS.SimpleQueueService.BatchEntryIdsNotDistinct", 400},
    {"BatchRequestTooLong", "AWS.SimpleQueueService.BatchRequestTooLong", 400},
    {"EmptyBatchRequest", "AWS.SimpleQueueService.EmptyBatchRequest", 400},
    {"IncompleteSignature", "IncompleteSignature", 400},
    {"InternalFailure", "InternalFailure", 500},
    {"InvalidAction", "InvalidAction", 400},
    {"InvalidAttributeName", "InvalidAttributeName", 400},
    {"InvalidAttributeValue", "InvalidAttributeValue", 400},
    {"InvalidBatchEntryId", "AWS.SimpleQueueService.InvalidBatchEntryId", 400},
    {"InvalidMessageContents", "InvalidMessageContents", 400},
    {"InvalidClientTokenId", "InvalidClientTokenId", 403},
    {"InvalidParameterValue", "InvalidParameterValue", 400},
    {"SerializationException", "MalformedInput", 400},
    {"MissingParameter", "MissingParameter", 400},
    {"MissingAuthenticationToken", "MissingAuthenticationToken", 403},
    {"QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", 400},
    {"ReceiptHandleIsInvalid", "ReceiptHandleIsInvalid", 400},
    {"MessageNotInflight", "AWS.SimpleQueueService.MessageNotInflight", 400},
    {"ResourceNotFoundException", "ResourceNotFoundException", 404},
    {"OverLimit", "OverLimit", 403},
    {"SignatureDoesNotMatch", "SignatureDoesNotMatch", 403},
    {"RequestEntityTooLarge", "RequestEntityTooLarge", 413},
    {"TooManyEntriesInBatchRequest", "AWS.SimpleQueueService.TooManyEntriesInBatchRequest", 400},
    {"ThrottlingException", "ThrottlingException", 429},
    {"ServiceUnavailable", "ServiceUnavailable", 503},
    {"UnsupportedOperation", "AWS.SimpleQueueService.UnsupportedOperation", 400},
}};

Kind kind_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::too_large: return Kind::invalid_value;
    case ErrorCode::unsupported: return Kind::unsupported;
    case ErrorCode::not_found: return Kind::no_such_queue;
    case ErrorCode::permission_denied: return Kind::access_denied;
    case ErrorCode::unavailable:
    case ErrorCode::no_space:
    case ErrorCode::conflict:
    case ErrorCode::closed: return Kind::unavailable;
    case ErrorCode::unknown_outcome:
    case ErrorCode::damaged:
    case ErrorCode::io_error:
    case ErrorCode::misuse: break;
  }
  return Kind::internal;
}

}  // namespace

const KindNames& names_of(Kind kind) noexcept { return kNames[static_cast<std::size_t>(kind)]; }

std::string_view Fault::json_name() const noexcept {
  return code_here.empty() ? names_of(kind).json : code_here;
}

std::string_view Fault::query_code() const noexcept {
  return code_here.empty() ? names_of(kind).query : code_here;
}

Fault fault_of(const Error& error) {
  const Kind kind = kind_of(error.code);
  if (!session::may_name_files(error.code)) return {kind, std::string(error.message)};
  return {kind, session::without_paths(error.message), std::string(error.message)};
}

Fault invalid_value(std::string message) { return {Kind::invalid_value, std::move(message)}; }

Fault missing(std::string_view parameter) {
  return {Kind::missing_parameter,
          "The request must contain the parameter " + std::string(parameter) + "."};
}

Fault no_such_queue() { return {Kind::no_such_queue, "The specified queue does not exist."}; }

}  // namespace tarry::sqs
