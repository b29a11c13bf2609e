#include "net/http_message.h"

#include <algorithm>

namespace tarry::net {
namespace {

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return std::ranges::equal(a, b, [](char x, char y) { return lower(x) == lower(y); });
}

const std::string* HttpMessage::find(std::string_view name) const noexcept {
  for (const HttpField& field : fields) {
    if (equals_ignoring_case(field.name, name)) return &field.value;
  }
  return nullptr;
}

std::size_t HttpMessage::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields, [&](const HttpField& field) { return equals_ignoring_case(field.name, name); }));
}

}  // namespace tarry::net
