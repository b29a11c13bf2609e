#include "app/config/listen.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "app/system/replace_file.h"
#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/url_parts.h"
#include "server/listening/ip_address.h"

namespace tarry::app {
namespace {

constexpr std::string_view kUnix = "unix:";

std::string in_brackets(const std::string& host) {
  return host.find(':') == std::string::npos ? host : "[" + host + "]";
}

std::vector<std::string_view> items(std::string_view list) {
  std::vector<std::string_view> found = base::split(list, ',');
  for (std::string_view& item : found) item = base::trimmed(item, " ");
  return found;
}

Error wrong(std::string_view what, std::string_view text, std::string_view why) {
  return {ErrorCode::invalid_argument, fmt::format("{} {} {}", what, base::quoted(text), why)};
}

Result<Address> parse_path(std::string_view text) {
  const std::string path(text.substr(kUnix.size()));
  if (path.empty()) return wrong("address", text, "needs a path, as unix:/run/tarry.sock");
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  return Address{"", 0, error ? path : absolute.lexically_normal().string()};
}

Result<Address> parse_one(std::string_view text) {
  if (text.starts_with(kUnix)) return parse_path(text);
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || text.ends_with(']')) {
    return wrong("address", text,
                 "must be HOST:PORT, as 127.0.0.1:7733 or [::1]:7733, or unix:PATH");
  }
  std::string host(text.substr(0, colon));
  const bool in_brackets = host.front() == '[' && host.back() == ']';
  if (in_brackets) host = host.substr(1, host.size() - 2);
  if (!in_brackets && host.find(':') != std::string::npos) {
    return wrong("address", text, "must have its IPv6 address in brackets, as [::1]:7733");
  }
  const auto port = base::parse_u64(text.substr(colon + 1), "port", 0, 65535);
  if (!port) return port.error();
  if (const auto good = listening::parse_listen_address(host); !good) return good.error();
  return Address{std::move(host), static_cast<std::uint16_t>(*port)};
}

bool collide(const Address& one, const Address& other) {
  if (one.is_unix() || other.is_unix()) return one.is_unix() && one.path == other.path;
  return one.port != 0 && one.port == other.port && listening::collide(one.host, other.host);
}

Result<std::string> parse_name(std::string_view text) {
  if (auto address = listening::ip_in_url(text)) return *std::move(address);
  constexpr std::string_view kMarks = ".-_";
  const bool is_name = !text.empty() && std::ranges::all_of(text, [&](char c) {
    return base::is_letter(c) || base::is_digit(c) || kMarks.find(c) != std::string_view::npos;
  });
  if (!is_name) return wrong("name", text, "must be a host name or an IP address, without a port");
  return std::string(text);
}

}  // namespace

bool Address::is_local() const { return is_unix() || listening::is_loopback(host); }

std::string Address::text() const {
  if (is_unix()) return std::string(kUnix) + path;
  return fmt::format("{}:{}", in_brackets(host), port);
}

std::string Address::url(bool has_tls) const {
  if (is_unix()) return "http+unix://" + base::path_in_url(path);
  return fmt::format("{}://{}:{}", has_tls ? "https" : "http", in_brackets(host), port);
}

Result<std::vector<Address>> parse_listen(std::string_view text) {
  std::vector<Address> addresses;
  for (const std::string_view part : items(text)) {
    auto address = parse_one(part);
    if (!address) return address.error();
    const auto taken = std::ranges::find_if(
        addresses, [&](const Address& before) { return collide(before, *address); });
    if (taken != addresses.end()) {
      return wrong("address", address->text(),
                   fmt::format("takes the same {} as {}", address->is_unix() ? "path" : "port",
                               base::quoted(taken->text())));
    }
    addresses.push_back(std::move(*address));
  }
  return addresses;
}

Result<std::vector<std::string>> parse_names(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view part : items(text)) {
    auto name = parse_name(part);
    if (!name) return name.error();
    names.push_back(std::move(*name));
  }
  return names;
}

namespace {

Result<void> of_port_file(Result<void> done) {
  if (done) return done;
  return Error{ErrorCode::invalid_argument, "--port-file: " + done.error().message};
}

}  // namespace

Result<void> check_port_file(const std::string& path) {
  return of_port_file(check_replaceable(path));
}

Result<void> write_port_file(const std::string& path, const std::vector<Address>& addresses) {
  std::string ports;
  for (const Address& address : addresses) {
    if (!address.is_unix()) ports += fmt::format("{}\n", address.port);
  }
  return of_port_file(replace_file(path, ports));
}

}  // namespace tarry::app
