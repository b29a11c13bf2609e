// IP addresses as text: what they mean for a server that listens on them.
//
// Thread safety: pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/ip/address.hpp>

#include <tarry/result.h>

namespace tarry::listening {

/// Reads an IP address, without brackets, or localhost, which means 127.0.0.1. Error:
/// `invalid_argument`.
[[nodiscard]] Result<boost::asio::ip::address> parse_listen_address(const std::string& text);

/// Whether only this machine reaches the address. False for a text that is not an address.
[[nodiscard]] bool is_loopback(const std::string& address);

/// Whether servers at the two addresses cannot have the same port: the addresses are equal, or one
/// of them means every address of its kind.
[[nodiscard]] bool collide(const std::string& address, const std::string& other);

/// The address as it stands in a URL: "192.0.2.7", "[2001:db8::1]"; nothing for a text that is not
/// an IP address, with or without brackets.
[[nodiscard]] std::optional<std::string> ip_in_url(std::string_view text);

/// Whom limits treat as one client: of IPv6 the network of 64 bits, "2001:db8:0:7::/64", because a
/// customer of a provider has at least such a network, and can use each of its addresses. Addresses
/// of loopback and of a link (fe80::) count each for itself, and an IPv4 address within IPv6 as
/// what it is. A text that is not an IPv6 address stays as it is.
[[nodiscard]] std::string peer_of(const std::string& address);

}  // namespace tarry::listening
