#include "wire/headers.h"

#include <algorithm>
#include <vector>

#include "base/text.h"

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

}  // namespace

void write_headers(JsonWriter& out, const Headers& headers) {
  if (name_occurs_twice(headers)) {
    out.begin_array();
    for (const Header& header : headers) {
      out.begin_array().string(header.name).bytes(header.value).end_array();
    }
    out.end_array();
    return;
  }
  out.begin_object();
  for (const Header& header : headers) out.foreign_name(header.name).bytes(header.value);
  out.end_object();
}

Result<Headers> read_headers(const boost::json::value& value) {
  Headers headers;
  if (const boost::json::object* object = value.if_object()) {
    for (const auto& field : *object) {
      const std::string_view name(field.key().data(), field.key().size());
      if (MaybeError error = read_value(field.value(), name, headers)) return *error;
    }
    return headers;
  }
  const boost::json::array* array = value.if_array();
  if (array == nullptr) {
    return Unexpected(ErrorCode::invalid_argument,
                      "\"headers\" must be an object of names and values, not " + describe(value));
  }
  for (const boost::json::value& item : *array) {
    const boost::json::array* pair = item.if_array();
    if (pair == nullptr || pair->size() != 2 || !(*pair)[0].is_string()) return wrong_pair(item);
    const boost::json::string& name = (*pair)[0].get_string();
    if (MaybeError error = read_value((*pair)[1], {name.data(), name.size()}, headers)) {
      return *error;
    }
  }
  return headers;
}

}  // namespace tarry::wire
