#include "wire/parts/headers.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/text.h"

namespace tarry::wire {
namespace {

bool name_occurs_twice(const Headers& headers) {
  if (headers.size() < 2) return false;
  std::vector<std::string_view> names;
  names.reserve(headers.size());
  for (const Header& header : headers) names.push_back(header.name);
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) != names.end();
}

bool is_text(const Header& header) { return base::is_valid_utf8(header.value); }

// Whether this is the first header of its name whose value is text.
bool stands_for_its_name(const Headers& headers, const Header& header) {
  const auto first = std::ranges::find_if(
      headers, [&](const Header& other) { return other.name == header.name && is_text(other); });
  return first != headers.end() && &*first == &header;
}

void write_list(JsonWriter& out, const Headers& headers) {
  out.name("header_list").begin_array();
  for (const Header& header : headers) {
    out.begin_object().text_field("name", header.name).bytes_field("value", header.value);
    out.end_object();
  }
  out.end_array();
}

MaybeError read_value(const boost::json::value& value, std::string_view name, Headers& headers) {
  std::string scratch;
  std::string_view bytes;
  if (MaybeError error =
          read_bytes(value, "the value of header " + base::quoted(name), scratch, bytes)) {
    return error;
  }
  headers.push_back({std::string(name), std::string(bytes)});
  return std::nullopt;
}

Error wrong_pair(const boost::json::value& value) {
  return {ErrorCode::invalid_argument,
          "an item of \"headers\" must be [name, value], not " + describe(value)};
}

Result<Headers> read_pairs(const boost::json::array& pairs) {
  Headers headers;
  for (const boost::json::value& item : pairs) {
    const boost::json::array* pair = item.if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string()) return wrong_pair(item);
    const boost::json::string& name = (*pair)[0].get_string();
    if (MaybeError error = read_value((*pair)[1], {name.data(), name.size()}, headers)) {
      return *error;
    }
  }
  return headers;
}

Result<Headers> read_named(const boost::json::value& value) {
  if (const boost::json::array* pairs = value.if_array()) return read_pairs(*pairs);
  const boost::json::object* object = value.if_object();
  if (object == nullptr) {
    return Unexpected(ErrorCode::invalid_argument,
                      "\"headers\" must be an object of names and values, not " + describe(value));
  }
  Headers headers;
  for (const auto& field : *object) {
    const std::string_view name(field.key().data(), field.key().size());
    if (MaybeError error = read_value(field.value(), name, headers)) return *error;
  }
  return headers;
}

Result<Headers> read_list(const boost::json::array& list) {
  Headers headers;
  for (const boost::json::value& item : list) {
    Fields fields(item, "an item of \"header_list\"", Unknown::refused);
    std::string scratch;
    fields.require("name");
    const auto name = fields.text("name");
    const auto value = fields.bytes("value", "value_base64", scratch);
    if (!value) fields.require("value");
    if (MaybeError error = fields.finish()) return *error;
    headers.push_back({std::string(*name), std::string(*value)});
  }
  return headers;
}

}  // namespace

void write_headers(JsonWriter& out, const Headers& headers) {
  const bool whole = !name_occurs_twice(headers) && std::ranges::all_of(headers, is_text);
  out.name("headers").begin_object();
  for (const Header& header : headers) {
    if (whole || stands_for_its_name(headers, header)) {
      out.foreign_name(header.name).string(header.value);
    }
  }
  out.end_object();
  if (!whole) write_list(out, headers);
}

HeaderFields take_headers(Fields& fields) {
  return {fields.any("headers"), fields.array("header_list")};
}

Result<Headers> read_headers(const HeaderFields& fields) {
  Headers named;
  if (fields.named != nullptr) {
    auto read = read_named(*fields.named);
    if (!read) return read;
    named = std::move(*read);
  }
  if (fields.list == nullptr || fields.list->empty()) return named;
  auto list = read_list(*fields.list);
  if (!list) return list;
  for (const Header& header : named) {
    if (std::ranges::find(*list, header) != list->end()) continue;
    return Unexpected(ErrorCode::invalid_argument,
                      "\"headers\" has " + base::quoted(header.name) +
                          " with a value that \"header_list\" does not have; give one of them");
  }
  return list;
}

}  // namespace tarry::wire
