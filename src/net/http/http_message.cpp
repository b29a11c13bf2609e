#include "net/http/http_message.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace tarry::net {
const std::string* HttpMessage::find(std::string_view name) const noexcept {
  for (const HttpField& field : fields) {
    if (base::equals_ignoring_case(field.name, name)) return &field.value;
  }
  return nullptr;
}

std::size_t HttpMessage::count(std::string_view name) const noexcept {
  return static_cast<std::size_t>(std::ranges::count_if(fields, [&](const HttpField& field) {
    return base::equals_ignoring_case(field.name, name);
  }));
}

}  // namespace tarry::net
