#include "open/urls/server_token.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/secrets/secret_file.h"
#include "base/secrets/token.h"

namespace tarry::detail {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// The file that has the token, and what names it; no path: the token is in TARRY_TOKEN, or there
/// is none.
struct TokenFile {
  std::string_view named_by;
  std::string path;
};

TokenFile file_of(const RemoteUrl& url) {
  if (!url.token_file.empty()) return {"token_file", url.token_file};
  if (!variable("TARRY_TOKEN").empty()) return {};
  return {"TARRY_TOKEN_FILE", variable("TARRY_TOKEN_FILE")};
}

Result<std::string> find_token(const RemoteUrl& url) {
  const TokenFile file = file_of(url);
  if (file.path.empty()) return variable("TARRY_TOKEN");
  return base::read_secret(file.named_by, file.path);
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

std::function<std::string()> token_renewal(const RemoteUrl& url) {
  TokenFile file = file_of(url);
  if (file.path.empty()) return nullptr;
  return [file = std::move(file)] {
    auto token = base::read_secret(file.named_by, file.path);
    return token && base::is_token(*token) ? *std::move(token) : std::string();
  };
}

}  // namespace tarry::detail
