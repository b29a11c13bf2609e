#include <cstdio>
#include <cstdlib>

#include <tarry/result.h>

namespace tarry::detail {

void no_value(const Error& error) noexcept {
  const std::string_view code = to_string(error.code);
  std::fprintf(stderr, "tarry: the value of a Result was used, but it holds an error (%.*s): %s\n",
               static_cast<int>(code.size()), code.data(), error.message.c_str());
  std::abort();
}

}  // namespace tarry::detail
