#include "server/http_session/response.h"

namespace tarry::http_session {

void end_head(std::string& head, const Response& response, bool keep_alive) {
  if (!response.goes_on) {
    head += "Content-Length: ";
    head += std::to_string(response.body.size());
    head += "\r\n";
  }
  head += "Cache-Control: ";
  head += response.cacheable ? "public, max-age=31536000, immutable" : "no-store";
  head += "\r\n";
  if (response.status == 503 || response.status == 429) {
    head += "Retry-After: ";
    head += std::to_string(response.retry_after);
    head += "\r\n";
  }
  head += response.fields;
  head += keep_alive ? "Connection: keep-alive\r\n\r\n" : "Connection: close\r\n\r\n";
}

}  // namespace tarry::http_session
