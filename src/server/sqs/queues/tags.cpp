#include "server/sqs/queues/tags.h"

#include <string>
#include <utility>

#include "base/text/text.h"
#include "server/sqs/queues/message_attributes.h"

namespace tarry::sqs {

MaybeFault read_tags(const boost::json::object& from, Texts& into) {
  constexpr std::size_t kMostTags = 50;
  constexpr std::size_t kLongestKey = 128;
  constexpr std::size_t kLongestValue = 256;
  for (const auto& [key, value] : from) {
    const boost::json::string* text = value.if_string();
    if (text == nullptr) return invalid_value("The tag " + base::quoted(key) + " is not a string.");
    if (key.empty() || key.size() > kLongestKey || text->size() > kLongestValue ||
        !is_message_text(key) || !is_message_text(*text)) {
      return invalid_value("The tag " + base::quoted(key) +
                           " is not 1 to 128 bytes of text with a value of at most 256.");
    }
    into.insert_or_assign(std::string(key), std::string(*text));
  }
  if (into.size() <= kMostTags) return std::nullopt;
  return invalid_value("A queue may have " + std::to_string(kMostTags) + " tags; these are " +
                       std::to_string(into.size()) + ".");
}

}  // namespace tarry::sqs
