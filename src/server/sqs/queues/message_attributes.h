// The attributes of messages: read, checked and summed by MD5 as SDKs expect, and kept as headers
// of tarry's message. The header has the attribute's name and value (base64 of a binary one); the
// header `sqs~types` has the types of those that are no plain String. So a consumer over HTTP or a
// relay sees them as headers, and a header that another front pushed is an attribute here.
//
// Names of our own headers have a `~`, which no attribute's name can have.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include <tarry/message.h>
#include <tarry/result.h>

#include "server/sqs/protocol/fault.h"

namespace tarry::sqs {

struct MessageAttribute {
  std::string name;
  std::string type;   // String, Number or Binary, perhaps with a label: "Number.float"
  std::string value;  // the bytes of a Binary

  [[nodiscard]] bool is_binary() const noexcept { return type.starts_with("Binary"); }
};
using MessageAttributes = std::vector<MessageAttribute>;  // sorted by name

/// The attribute that names a message in tarry.
inline constexpr std::string_view kKeyAttribute = "tarry.key";
inline constexpr std::string_view kTypesHeader = "sqs~types";

[[nodiscard]] MaybeFault read_message_attributes(const boost::json::object& from,
                                                 MessageAttributes& into);
/// Hex digits; empty if there are no attributes.
[[nodiscard]] std::string md5_of(const MessageAttributes& attributes);
/// Bytes of names, types and values, which count for a message's size.
[[nodiscard]] std::size_t size_of(const MessageAttributes& attributes) noexcept;

/// Appends the headers of the attributes; that of kKeyAttribute has no value, which is the key.
void add_headers(const MessageAttributes& attributes, Headers& headers);
/// The attributes in a message's headers. `key`: that of the message.
[[nodiscard]] MessageAttributes attributes_in(const Headers& headers, std::string_view key);

/// Whether a list of names, as ReceiveMessage has it, asks for this one: "All" and ".*" ask for
/// all, "prefix.*" for those that begin so.
[[nodiscard]] bool is_asked_for(const std::vector<std::string>& names, std::string_view name);

[[nodiscard]] boost::json::object json_of(const MessageAttribute& attribute);

/// Whether the text has only the characters that SQS allows (those of XML 1.0).
[[nodiscard]] bool is_message_text(std::string_view text) noexcept;

}  // namespace tarry::sqs
