#include "server/listening/ip_address.h"

#include <algorithm>

#include <boost/asio/ip/address_v6.hpp>

#include "base/text/text.h"

namespace tarry::listening {

Result<boost::asio::ip::address> parse_listen_address(const std::string& text) {
  boost::system::error_code error;
  const auto parsed =
      boost::asio::ip::make_address(text == "localhost" ? "127.0.0.1" : text, error);
  if (!error) return parsed;
  return Unexpected(ErrorCode::invalid_argument,
                    "listen address " + base::quoted(text) + " is not an IP address");
}

bool is_loopback(const std::string& address) {
  const auto parsed = parse_listen_address(address);
  return parsed && parsed->is_loopback();
}

bool collide(const std::string& address, const std::string& other) {
  const auto one = parse_listen_address(address);
  const auto two = parse_listen_address(other);
  if (!one || !two || one->is_v4() != two->is_v4()) return false;
  return *one == *two || one->is_unspecified() || two->is_unspecified();
}

std::optional<std::string> ip_in_url(std::string_view text) {
  const bool in_brackets = text.starts_with('[') && text.ends_with(']');
  if (in_brackets) text = text.substr(1, text.size() - 2);
  boost::system::error_code error;
  const auto parsed = boost::asio::ip::make_address(std::string(text), error);
  if (error || (in_brackets && parsed.is_v4())) return std::nullopt;
  return parsed.is_v6() ? "[" + parsed.to_string() + "]" : parsed.to_string();
}

std::string peer_of(const std::string& address) {
  namespace ip = boost::asio::ip;
  if (address.find(':') == std::string::npos) return address;
  boost::system::error_code error;
  const auto parsed = ip::make_address_v6(address, error);
  if (error || parsed.is_loopback() || parsed.is_link_local()) return address;
  if (parsed.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, parsed).to_string();
  auto bytes = parsed.to_bytes();
  std::fill(bytes.begin() + bytes.size() / 2, bytes.end(), std::uint8_t{0});
  return ip::address_v6(bytes).to_string() + "/64";
}

}  // namespace tarry::listening
