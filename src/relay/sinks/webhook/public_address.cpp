#include "relay/sinks/webhook/public_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

namespace tarry::relay {
namespace {

struct Block4 {
  std::uint32_t network;
  int bits;
};
constexpr std::uint32_t quad(std::uint32_t a, std::uint32_t b, std::uint32_t c) noexcept {
  return a << 24 | b << 16 | c << 8;
}
// Blocks of IANA's special-purpose registry.
constexpr std::array<Block4, 16> kNotPublic4{{{quad(0, 0, 0), 8},
                                              {quad(10, 0, 0), 8},
                                              {quad(100, 64, 0), 10},
                                              {quad(127, 0, 0), 8},
                                              {quad(169, 254, 0), 16},
                                              {quad(172, 16, 0), 12},
                                              {quad(192, 0, 0), 24},
                                              {quad(192, 0, 2), 24},
                                              {quad(192, 31, 196), 24},
                                              {quad(192, 88, 99), 24},
                                              {quad(192, 168, 0), 16},
                                              {quad(198, 18, 0), 15},
                                              {quad(198, 51, 100), 24},
                                              {quad(203, 0, 113), 24},
                                              {quad(224, 0, 0), 4},
                                              {quad(240, 0, 0), 4}}};

bool is_public4(std::uint32_t address) noexcept {
  return std::ranges::none_of(kNotPublic4, [address](const Block4& block) {
    return (address ^ block.network) >> (32 - block.bits) == 0;
  });
}

using Bytes16 = std::array<std::uint8_t, 16>;

std::uint32_t quad_at(const Bytes16& bytes, std::size_t at) noexcept {
  return quad(bytes[at], bytes[at + 1], bytes[at + 2]) | bytes[at + 3];
}

bool starts(const Bytes16& bytes, std::initializer_list<std::uint8_t> prefix) noexcept {
  return std::equal(prefix.begin(), prefix.end(), bytes.begin());
}

bool is_public6(const Bytes16& bytes) noexcept {
  // For ::ffff:0:0/96 and NAT64's 64:ff9b::/96, packets go to the IPv4 address in the last 32 bits.
  if (starts(bytes, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}) ||
      starts(bytes, {0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0})) {
    return is_public4(quad_at(bytes, 12));
  }
  if ((bytes[0] & 0xe0) != 0x20) return false;  // every routed address is in 2000::/3
  if (starts(bytes, {0x20, 0x02})) return is_public4(quad_at(bytes, 2));         // 6to4
  const bool protocols = starts(bytes, {0x20, 0x01}) && (bytes[2] & 0xfe) == 0;  // 2001::/23
  const bool documents = starts(bytes, {0x20, 0x01, 0x0d, 0xb8}) ||
                         (starts(bytes, {0x3f, 0xff}) && (bytes[2] & 0xf0) == 0);
  return !protocols && !documents;
}

}  // namespace

bool is_public(const sockaddr& address) noexcept {
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    return is_public4(ntohl(in.sin_addr.s_addr));
  }
  if (address.sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address, sizeof in);
    Bytes16 bytes{};
    std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
    return is_public6(bytes);
  }
  return false;
}

std::string address_text(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    ::inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size());
  } else if (address.sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address, sizeof in);
    ::inet_ntop(AF_INET6, &in.sin6_addr, text.data(), text.size());
  }
  return text.data();
}

}  // namespace tarry::relay
