#include "app/transfer/push_line.h"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "wire/push.h"

namespace tarry::app {

Result<core::PushRequest> read_push_line(std::string_view queue, const LineReader& reader,
                                         std::string_view line) {
  if (reader.too_long()) {
    return Error{ErrorCode::too_large, fmt::format("the line is over {} bytes", kLongestLine)};
  }
  auto push = wire::decode_push(std::string(queue), line, "the line");
  if (!push) return std::move(push).error();
  if (!push->single) {
    return Error{ErrorCode::invalid_argument, "unknown field \"messages\": a line is one message"};
  }
  return std::move(push->request);
}

}  // namespace tarry::app
