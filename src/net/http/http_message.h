// One HTTP/1.1 message, request or response, as it was read. Plain values.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tarry::net {

struct HttpField {
  std::string name;
  std::string value;
};

struct HttpMessage {
  unsigned version = 11;  // 10 or 11
  std::string method;     // of requests
  std::string target;     // of requests
  unsigned status = 0;    // of responses
  std::vector<HttpField> fields;
  std::string body;

  /// The first field of that name, or nothing.
  [[nodiscard]] const std::string* find(std::string_view name) const noexcept;
  [[nodiscard]] std::size_t count(std::string_view name) const noexcept;
};

}  // namespace tarry::net
