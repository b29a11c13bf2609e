// The OpenAPI document, docs/reference/openapi.yaml, as JSON. Its source is generated at build
// time, by cmake/openapi_source.py.
//
// Thread safety: pure function.
#pragma once

#include <string>

namespace tarry::http {

[[nodiscard]] std::string openapi_document();

}  // namespace tarry::http
