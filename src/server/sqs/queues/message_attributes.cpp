#include "server/sqs/queues/message_attributes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/base64.h"
#include "base/text/text.h"
#include "net/md5.h"
#include "server/sqs/protocol/reader.h"

namespace tarry::sqs {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostAttributes = 10;
constexpr std::size_t kLongestName = 256;
constexpr std::string_view kString = "String";
constexpr std::string_view kBinary = "Binary";

bool is_name_char(char c) noexcept {
  return base::is_letter(c) || base::is_digit(c) || c == '_' || c == '-' || c == '.';
}

bool is_attribute_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, is_name_char) &&
         name.front() != '.' && name.back() != '.' && name.find("..") == std::string_view::npos;
}

bool is_reserved(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 2> kReserved = {"aws.", "amazon."};
  return std::ranges::any_of(kReserved, [&](std::string_view begin) {
    return base::equals_ignoring_case(name.substr(0, begin.size()), begin);
  });
}

bool is_type(std::string_view type) noexcept {
  const std::string_view kind = type.substr(0, type.find('.'));
  return type.size() <= kLongestName && (kind == kString || kind == "Number" || kind == kBinary) &&
         std::ranges::all_of(type, is_name_char);
}

/// Drops the digits that the text begins with, and returns how many there were.
std::size_t skip_digits(std::string_view& text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && base::is_digit(text[count])) ++count;
  text.remove_prefix(count);
  return count;
}

void skip_sign(std::string_view& text) noexcept {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
}

/// A decimal number, with or without a fraction and an exponent.
bool is_number(std::string_view text) noexcept {
  skip_sign(text);
  std::size_t digits = skip_digits(text);
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    digits += skip_digits(text);
  }
  if (digits == 0) return false;
  if (!text.starts_with('e') && !text.starts_with('E')) return text.empty();
  text.remove_prefix(1);
  skip_sign(text);
  return skip_digits(text) > 0 && text.empty();
}

Fault wrong_attribute(std::string_view name, std::string_view why) {
  return invalid_value("The message attribute " + base::quoted(name) + " " + std::string(why));
}

MaybeFault read_one(std::string_view name, const json::value& from, MessageAttribute& attribute) {
  if (!is_attribute_name(name) || is_reserved(name)) {
    return wrong_attribute(name, "has a name that is not valid.");
  }
  const json::object* fields = from.if_object();
  if (fields == nullptr) return wrong_attribute(name, "is not a map.");
  Reader params(*fields);
  const auto type = params.text("DataType");
  const auto text = params.text("StringValue");
  const auto binary = params.text("BinaryValue");
  if (params.fault()) return params.fault();
  if (!type || type->empty()) return wrong_attribute(name, "must contain a DataType.");
  if (!is_type(*type)) {
    return wrong_attribute(name, "has the type " + base::quoted(*type) +
                                     ", which does not begin with String, Number or Binary.");
  }
  attribute.name = name;
  attribute.type = *type;
  const auto& given = attribute.is_binary() ? binary : text;
  if (!given || given->empty()) {
    return wrong_attribute(name, "must contain a non-empty value of its type.");
  }
  if (!attribute.is_binary()) {
    attribute.value = *given;
    if (!is_message_text(*given)) return wrong_attribute(name, "has characters SQS forbids.");
    if (attribute.type.starts_with("Number") && !is_number(*given)) {
      return wrong_attribute(name, "has the value " + base::quoted(*given) + ", not a number.");
    }
    return std::nullopt;
  }
  auto bytes = base::base64_decode(*given);
  if (!bytes) return wrong_attribute(name, "is not base64.");
  attribute.value = *std::move(bytes);
  return std::nullopt;
}

void append_sized(std::string& out, std::string_view piece) {
  const auto size = static_cast<std::uint32_t>(piece.size());
  for (const unsigned shift : {24u, 16u, 8u, 0u}) out += static_cast<char>((size >> shift) & 0xffu);
  out += piece;
}

/// Name and type of each entry of the types' header.
std::vector<std::pair<std::string_view, std::string_view>> types_in(const Headers& headers) {
  std::vector<std::pair<std::string_view, std::string_view>> types;
  const auto found = std::ranges::find(headers, kTypesHeader, &Header::name);
  std::string_view rest = found == headers.end() ? std::string_view() : found->value;
  while (!rest.empty()) {
    const std::string_view entry = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(entry.size() + 1, rest.size()));
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) continue;
    types.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return types;
}

}  // namespace

MaybeFault read_message_attributes(const json::object& from, MessageAttributes& into) {
  if (from.size() > kMostAttributes) {
    return invalid_value("Number of message attributes [" + std::to_string(from.size()) +
                         "] exceeds the allowed maximum [" + std::to_string(kMostAttributes) +
                         "].");
  }
  for (const auto& [name, value] : from) {
    if (auto fault = read_one(name, value, into.emplace_back())) return fault;
  }
  std::ranges::sort(into, {}, &MessageAttribute::name);
  return std::nullopt;
}

std::string md5_of(const MessageAttributes& attributes) {
  if (attributes.empty()) return {};
  std::string bytes;
  for (const MessageAttribute& attribute : attributes) {
    append_sized(bytes, attribute.name);
    append_sized(bytes, attribute.type);
    bytes += attribute.is_binary() ? '\2' : '\1';
    append_sized(bytes, attribute.value);
  }
  return net::md5_hex(bytes);
}

std::size_t size_of(const MessageAttributes& attributes) noexcept {
  std::size_t size = 0;
  for (const MessageAttribute& one : attributes) {
    size += one.name.size() + one.type.size() + one.value.size();
  }
  return size;
}

void add_headers(const MessageAttributes& attributes, Headers& headers) {
  std::string types;
  for (const MessageAttribute& attribute : attributes) {
    const bool is_key = attribute.name == kKeyAttribute;
    if (is_key || attribute.type != kString) {
      if (!types.empty()) types += ',';
      types += attribute.name;
      types += '=';
      types += attribute.type;
    }
    if (is_key) continue;
    headers.push_back({attribute.name, attribute.is_binary() ? base::base64_encode(attribute.value)
                                                             : attribute.value});
  }
  if (!types.empty()) headers.push_back({std::string(kTypesHeader), std::move(types)});
}

MessageAttributes attributes_in(const Headers& headers, std::string_view key) {
  MessageAttributes attributes;
  const auto types = types_in(headers);
  for (const Header& header : headers) {
    if (!is_attribute_name(header.name) || is_reserved(header.name) || header.value.empty()) {
      continue;
    }
    MessageAttribute one{header.name, std::string(kString), header.value};
    for (const auto& [name, type] : types) {
      if (name == one.name) one.type = type;
    }
    if (one.is_binary()) {
      if (auto bytes = base::base64_decode(header.value)) {
        one.value = *std::move(bytes);
      }
    } else if (!is_message_text(one.value)) {
      one.type = kBinary;  // another front pushed it
    }
    attributes.push_back(std::move(one));
  }
  for (const auto& [name, type] : types) {
    if (name == kKeyAttribute && is_message_text(key)) {
      attributes.push_back({std::string(name), std::string(type), std::string(key)});
    }
  }
  std::ranges::sort(attributes, {}, &MessageAttribute::name);
  return attributes;
}

bool is_asked_for(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view asked) {
    if (asked == "All" || asked == ".*" || asked == name) return true;
    return asked.ends_with(".*") && name.starts_with(asked.substr(0, asked.size() - 2));
  });
}

json::object json_of(const MessageAttribute& attribute) {
  json::object fields;
  if (attribute.is_binary()) {
    fields["BinaryValue"] = base::base64_encode(attribute.value);
  } else {
    fields["StringValue"] = attribute.value;
  }
  fields["DataType"] = attribute.type;
  return fields;
}

bool is_message_text(std::string_view text) noexcept {
  if (!base::is_valid_utf8(text)) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') return false;
    // U+FFFE and U+FFFF.
    if (byte == 0xef && text.substr(i).starts_with("\xef\xbf") && i + 2 < text.size() &&
        static_cast<unsigned char>(text[i + 2]) >= 0xbe) {
      return false;
    }
  }
  return true;
}

}  // namespace tarry::sqs
