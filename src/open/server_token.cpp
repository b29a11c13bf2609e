#include "open/server_token.h"

#include <cstdlib>
#include <fstream>
#include <utility>

#include "base/text.h"
#include "base/token.h"

namespace tarry::detail {
namespace {

Result<std::string> read_token(std::string_view named_by, const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) {
    return Unexpected(
        ErrorCode::invalid_argument,
        std::string(named_by) + " " + base::quoted(path) + " cannot be read, or is empty");
  }
  if (line.ends_with('\r')) line.pop_back();
  if (!line.empty()) return line;
  // No token at all would be told of by every server, and the file by none.
  return Unexpected(ErrorCode::invalid_argument, std::string(named_by) + " " + base::quoted(path) +
                                                     ": its first line is empty, and no token");
}

Result<std::string> find_token(const RemoteUrl& url) {
  if (!url.token_file.empty()) return read_token("token_file", url.token_file);
  const char* token = std::getenv("TARRY_TOKEN");
  if (token != nullptr && *token != '\0') return std::string(token);
  const char* file = std::getenv("TARRY_TOKEN_FILE");
  if (file != nullptr && *file != '\0') return read_token("TARRY_TOKEN_FILE", file);
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
