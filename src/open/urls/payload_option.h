// The option max_payload, which URLs of several engines have.
//
// Thread safety: a pure function.
#pragma once

#include <string_view>

#include <tarry/result.h>

#include "base/text/url_parts.h"
#include "core/limits.h"

namespace tarry::detail {

/// Error: `invalid_argument`, which names the value and the limits.
template <typename Url>
Result<void> set_max_payload(std::string_view value, Url& url) {
  const auto size =
      base::size_option("max_payload", value, 1, core::kMaxMaxPayload, "from 1B to 64MiB");
  if (!size) return size.error();
  url.max_payload = *size;
  return {};
}

}  // namespace tarry::detail
