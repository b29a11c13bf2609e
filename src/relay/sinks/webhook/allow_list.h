// AllowList: the destinations that a webhook may call: host names, addresses, networks, and all
// public addresses together. A host name can be pointed at any address, so the addresses are
// checked too, when a socket is about to connect.
//
// Thread safety: immutable once made.
#pragma once

#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

namespace tarry::relay {

class AllowList {
 public:
  static constexpr std::size_t kMost = 256;  // entries

  /// Public addresses only (public_address.h), under any name.
  AllowList() = default;
  /// Every address.
  [[nodiscard]] static AllowList everything();

  /// `text`: entries separated by commas. An entry is `public`; a host name, which permits every
  /// address that the name leads to; `*.NAME`, all names below NAME; an address; or a network such
  /// as 10.0.0.0/8 or fd00::/8. Error: `invalid_argument`, which names the entry.
  [[nodiscard]] static Result<AllowList> parse(std::string_view text);

  /// Whether the host may be called wherever it leads. `host`: a name or an address, without
  /// brackets.
  [[nodiscard]] bool permits_host(std::string_view host) const noexcept;
  /// Whether the address may be called under any name. An IPv6 address that contains an IPv4
  /// address (::ffff:0:0/96) counts as the IPv4 address.
  [[nodiscard]] bool permits(const sockaddr& address) const noexcept;
  /// Whether it permits no address but those to which its names lead.
  [[nodiscard]] bool has_only_names() const noexcept { return !has_public_ && networks_.empty(); }

  [[nodiscard]] bool is_default() const noexcept { return text_ == kDefault; }

  /// Why neither `host` nor `address`, to which it leads, may be called: one line, which names this
  /// list.
  [[nodiscard]] std::string refusal(std::string_view host, std::string_view address) const;
  /// The same if the address is not known, and does not matter.
  [[nodiscard]] std::string refusal(std::string_view host) const;

 private:
  static constexpr std::string_view kDefault = "public";

  struct Network {
    std::array<std::uint8_t, 16> prefix;  // that of an IPv4 network begins with ::ffff:0:0/96
    int bits;
    bool is_ip4;
  };
  Result<void> add(std::string_view entry);
  Result<void> add_network(std::string_view entry);
  [[nodiscard]] std::string setting() const;

  std::string text_{kDefault};  // as it was written
  bool has_public_ = true;
  std::vector<Network> networks_;
  std::vector<std::string> names_;
  std::vector<std::string> endings_;  // ".example.org"
};

}  // namespace tarry::relay
