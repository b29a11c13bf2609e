#include "open/server_token.h"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "base/token.h"

namespace tarry::detail {
namespace {

Result<std::string> read_token(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    return Unexpected(ErrorCode::invalid_argument,
                      "token_file " + base::quoted(path) + " cannot be read, or is empty");
  }
  if (line.ends_with('\r')) line.pop_back();
  return line;
}

}  // namespace

Result<std::string> token_for(const RemoteUrl& url) {
  std::string found;
  if (!url.token_file.empty()) {
    auto token = read_token(url.token_file);
    if (!token) return token;
    found = *std::move(token);
  } else if (const char* token = std::getenv("TARRY_TOKEN"); token != nullptr) {
    found = token;
  }
  if (!found.empty() && !base::is_token(found)) {
    return Unexpected(ErrorCode::invalid_argument,
                      "the token for " + (url.unix_path.empty() ? url.host : url.unix_path) +
                          " is not one: " + std::string(base::kTokenRule));
  }
  return found;
}

}  // namespace tarry::detail
