#include "open/server_token.h"

#include <cstdlib>
#include <utility>

#include "base/secret_file.h"
#include "base/token.h"

namespace tarry::detail {
namespace {

Result<std::string> find_token(const RemoteUrl& url) {
  if (!url.token_file.empty()) return base::read_secret("token_file", url.token_file);
  const char* token = std::getenv("TARRY_TOKEN");
  if (token != nullptr && *token != '\0') return std::string(token);
  const char* file = std::getenv("TARRY_TOKEN_FILE");
  if (file != nullptr && *file != '\0') return base::read_secret("TARRY_TOKEN_FILE", file);
  return std::string();
}

}  // namespace

Result<std::string> token_for(const RemoteUrl& url) {
  auto token = find_token(url);
  if (!token) return token;
  std::string found = *std::move(token);
  if (!found.empty() && !base::is_token(found)) {
    return Unexpected(ErrorCode::invalid_argument,
                      "the token for " + (url.unix_path.empty() ? url.host : url.unix_path) +
                          " is not one: " + std::string(base::kTokenRule));
  }
  return found;
}

}  // namespace tarry::detail
