// Which network addresses are public, and which are private: a relay must not be led to private
// ones by a name that anybody can point anywhere.
//
// Pure functions.
#pragma once

#include <sys/socket.h>

#include <string>

namespace tarry::relay {

/// Not loopback, private, link-local, multicast, reserved or for documentation; an IPv6 address
/// that carries an IPv4 one is judged by that. False for anything that is no internet address.
[[nodiscard]] bool is_public(const sockaddr& address) noexcept;

/// "10.0.0.1", "fe80::1"; empty for anything that is no internet address.
[[nodiscard]] std::string address_text(const sockaddr& address);

}  // namespace tarry::relay
