// How SQS names a message and the claim of one.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tarry::sqs {

/// A MessageId, in the form of a UUID of version 8: it holds the store's id of the message.
[[nodiscard]] std::string message_id(std::uint64_t id);

/// The message's key, if the receipt handle is "key:" and a key, which names a message that waits.
[[nodiscard]] std::optional<std::string_view> key_in(std::string_view handle) noexcept;

// Our own headers of messages: what SQS keeps and tarry has no place for.
inline constexpr std::string_view kSentHeader = "sqs~sent";      // epoch milliseconds
inline constexpr std::string_view kSenderHeader = "sqs~sender";  // the name of the sender's token
inline constexpr std::string_view kTraceHeader = "sqs~trace";    // AWSTraceHeader
inline constexpr std::string_view kGroupHeader = "sqs~group";    // MessageGroupId
inline constexpr std::string_view kDeduplicationHeader = "sqs~dedup";  // MessageDeduplicationId
inline constexpr std::string_view kIdHeader = "sqs~id";          // of a message from another queue
inline constexpr std::string_view kSourceHeader = "sqs~source";  // the queue where it died

}  // namespace tarry::sqs
