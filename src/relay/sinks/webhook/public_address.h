// Tells public network addresses from private ones. A host name can be pointed at any address, and
// must not lead a relay to a private one.
//
// Pure functions.
#pragma once

#include <sys/socket.h>

#include <string>

namespace tarry::relay {

/// True if the address is not loopback, private, link-local, multicast, reserved or for
/// documentation. If an IPv6 address contains an IPv4 address, the IPv4 address decides. False for
/// anything that is not an internet address.
[[nodiscard]] bool is_public(const sockaddr& address) noexcept;

/// "10.0.0.1", "fe80::1"; empty for anything that is not an internet address.
[[nodiscard]] std::string address_text(const sockaddr& address);

}  // namespace tarry::relay
