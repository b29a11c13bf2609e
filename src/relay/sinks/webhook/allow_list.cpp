#include "relay/sinks/webhook/allow_list.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/text.h"
#include "base/text/url_parts.h"
#include "relay/sinks/webhook/public_address.h"

namespace tarry::relay {
namespace {

constexpr std::size_t kMaxHostName = 253;
constexpr std::size_t kMaxLabel = 63;
constexpr std::size_t kShownOfEntry = 80;
constexpr std::size_t kShownOfList = 400;

using AddressBytes = std::array<std::uint8_t, 16>;

Unexpected wrong_entry(std::string_view entry, std::string_view why) {
  std::string text = "allow: entry " + base::quoted(entry, kShownOfEntry);
  return Unexpected(ErrorCode::invalid_argument, text.append(" ").append(why));
}

bool is_mapped(const AddressBytes& bytes) noexcept {
  constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  return std::equal(kMapped.begin(), kMapped.end(), bytes.begin());
}

AddressBytes mapped(const in_addr& address) noexcept {
  AddressBytes bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::memcpy(bytes.data() + 12, &address, sizeof address);
  return bytes;
}

AddressBytes as_bytes(const in6_addr& address) noexcept {
  AddressBytes bytes{};
  std::memcpy(bytes.data(), &address, bytes.size());
  return bytes;
}

/// The bit at `at`, counted from the left.
bool bit_of(const AddressBytes& bytes, int at) noexcept {
  const auto index = static_cast<std::size_t>(at);
  return (bytes[index / 8] >> (7 - index % 8) & 1) != 0;
}

bool share_prefix(const AddressBytes& a, const AddressBytes& b, int bits) noexcept {
  for (int i = 0; i < bits; ++i) {
    if (bit_of(a, i) != bit_of(b, i)) return false;
  }
  return true;
}

std::string_view without_dot(std::string_view host) noexcept {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

bool is_label(std::string_view label) noexcept {
  return !label.empty() && label.size() <= kMaxLabel && std::ranges::all_of(label, [](char c) {
    return base::is_letter(c) || base::is_digit(c) || c == '-' || c == '_';
  });
}

bool is_host_name(std::string_view name) {
  return name.size() <= kMaxHostName && std::ranges::all_of(base::split(name, '.'), is_label);
}

/// Whether programs read the name as an IPv4 address: 127.1, 2130706433, 0x7f.0.0.1.
bool ends_in_number(std::string_view name) noexcept {
  const std::string_view last = name.substr(name.rfind('.') + 1);
  const bool is_hex = last.size() > 1 && last[0] == '0' && base::to_lower(last[1]) == 'x';
  return is_hex || std::ranges::all_of(last, base::is_digit);
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), base::to_lower);
  return out;
}

}  // namespace

AllowList AllowList::everything() {
  AllowList list;
  list.text_ = "0.0.0.0/0,::/0";
  list.networks_ = {{mapped({}), 96, true}, {AddressBytes{}, 0, false}};
  return list;
}

Result<AllowList> AllowList::parse(std::string_view text) {
  AllowList list;
  list.text_ = text;
  list.has_public_ = false;
  const std::vector<std::string_view> entries = base::split(text, ',');
  if (entries.size() > kMost) {
    return Unexpected(ErrorCode::invalid_argument, "allow has " + std::to_string(entries.size()) +
                                                       " entries; the limit is " +
                                                       std::to_string(kMost));
  }
  for (const std::string_view entry : entries) {
    if (auto added = list.add(entry); !added) return added.error();
  }
  return list;
}

Result<void> AllowList::add(std::string_view entry) {
  if (entry == kDefault) {
    has_public_ = true;
    return {};
  }
  if (entry.find_first_of(":/") != std::string_view::npos) return add_network(entry);
  const bool is_ending = entry.starts_with("*.");
  const std::string_view name = without_dot(is_ending ? entry.substr(2) : entry);
  in_addr address{};
  if (!is_ending && ::inet_pton(AF_INET, std::string(name).c_str(), &address) == 1) {
    return add_network(name);
  }
  if (!is_host_name(name)) {
    return wrong_entry(entry,
                       "is none: an entry is public, a host name, *.NAME, an address, or a network "
                       "such as 10.0.0.0/8");
  }
  if (ends_in_number(name)) {
    return wrong_entry(entry, "looks like a number; write an address in the form 127.0.0.1");
  }
  if (is_ending) {
    endings_.push_back("." + lower(name));
  } else {
    names_.push_back(lower(name));
  }
  return {};
}

Result<void> AllowList::add_network(std::string_view entry) {
  const std::size_t slash = entry.find('/');
  const std::string host(entry.substr(0, slash));
  if (host.find('%') != std::string::npos) {
    return wrong_entry(entry, "has a zone; an entry holds for every zone, so leave % and zone out");
  }
  Network network{};
  in_addr ip4{};
  in6_addr ip6{};
  int width = 128;
  if (::inet_pton(AF_INET, host.c_str(), &ip4) == 1) {
    network.prefix = mapped(ip4);
    width = 32;
  } else if (::inet_pton(AF_INET6, host.c_str(), &ip6) == 1) {
    network.prefix = as_bytes(ip6);
  } else {
    return wrong_entry(entry,
                       "is none: write an address or a network as 10.0.0.7, 10.0.0.0/8, fd00::7 or "
                       "fd00::/8, without port, and IPv6 without brackets");
  }
  int length = width;
  if (slash != std::string_view::npos) {
    const auto bits = base::parse_u64(entry.substr(slash + 1), "the number after /", 0,
                                      static_cast<std::uint64_t>(width));
    if (!bits) return wrong_entry(entry, "is no network: " + bits.error().message);
    length = static_cast<int>(*bits);
  }
  network.bits = length + 128 - width;
  for (int i = network.bits; i < 128; ++i) {
    if (!bit_of(network.prefix, i)) continue;
    return wrong_entry(
        entry, "is no network: its address has bits after the first " + std::to_string(length));
  }
  network.is_ip4 = network.bits >= 96 && is_mapped(network.prefix);
  networks_.push_back(network);
  return {};
}

bool AllowList::permits_host(std::string_view host) const noexcept {
  host = without_dot(host);
  const auto is_host = [host](const std::string& name) {
    return base::equals_ignoring_case(name, host);
  };
  const auto ends_host = [host](const std::string& ending) {
    return host.size() > ending.size() &&
           base::equals_ignoring_case(host.substr(host.size() - ending.size()), ending);
  };
  return std::ranges::any_of(names_, is_host) || std::ranges::any_of(endings_, ends_host);
}

bool AllowList::permits(const sockaddr& address) const noexcept {
  AddressBytes bytes{};
  if (address.sa_family == AF_INET) {
    sockaddr_in in{};
    std::memcpy(&in, &address, sizeof in);
    bytes = mapped(in.sin_addr);
  } else if (address.sa_family == AF_INET6) {
    sockaddr_in6 in{};
    std::memcpy(&in, &address, sizeof in);
    bytes = as_bytes(in.sin6_addr);
  } else {
    return false;
  }
  const bool is_ip4 = is_mapped(bytes);
  return (has_public_ && is_public(address)) ||
         std::ranges::any_of(networks_, [&](const Network& network) {
           return network.is_ip4 == is_ip4 && share_prefix(network.prefix, bytes, network.bits);
         });
}

std::string AllowList::setting() const {
  std::string text = "allow=" + text_.substr(0, kShownOfList);
  if (text_.size() > kShownOfList) text += "…";
  return is_default() ? text + " (the default)" : text;
}

std::string AllowList::refusal(std::string_view host, std::string_view address) const {
  std::string text = "host " + base::quoted(host, kMaxHostName);
  if (host != address) text.append(" leads to ").append(address).append(", which");
  text += " is not permitted by " + setting();
  if (!is_default()) return text;
  return text.append("; allow=").append(address).append(" permits it");
}

std::string AllowList::refusal(std::string_view host) const {
  return "host " + base::quoted(host, kMaxHostName) + " is not permitted by " + setting() +
         ", which has only names";
}

}  // namespace tarry::relay
