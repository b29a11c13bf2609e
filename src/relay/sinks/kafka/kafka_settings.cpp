#include "relay/sinks/kafka/kafka_settings.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "base/text/ascii.h"
#include "base/text/text.h"

namespace tarry::relay {
namespace {

std::string_view trimmed(std::string_view text) { return base::trimmed(text, " \t\r"); }

Unexpected not_read(std::string message) {
  return {ErrorCode::invalid_argument, std::move(message)};
}

}  // namespace

Result<std::vector<KafkaSetting>> read_kafka_settings(const std::string& file) {
  std::error_code none;
  if (std::filesystem::exists(file, none) && !std::filesystem::is_regular_file(file, none)) {
    return not_read("config " + base::quoted(file) + ": is not a regular file");
  }
  std::ifstream in(file);
  if (!in) return not_read("config " + base::quoted(file) + ": " + std::strerror(errno));
  std::vector<KafkaSetting> settings;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    const std::string_view text = trimmed(line);
    if (text.empty() || text.starts_with('#')) continue;
    const std::string where = file + ":" + std::to_string(number);
    const std::size_t equals = text.find('=');
    const std::string_view name = trimmed(text.substr(0, equals));
    if (equals == std::string_view::npos || name.empty()) {
      return not_read("config " + where + ": is not NAME=VALUE");
    }
    settings.push_back({std::string(name), std::string(trimmed(text.substr(equals + 1))), where});
  }
  if (in.bad()) return not_read("config " + base::quoted(file) + ": cannot be read");
  return settings;
}

}  // namespace tarry::relay
