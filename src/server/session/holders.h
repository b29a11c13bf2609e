// Holders: who claimed what through this server, for `get`. The store knows a lease, and not whose
// it is.
//
// It keeps the latest claims, up to kMost messages and kMostClaims claims: of a lease that is older
// than these nobody is told. A claim is named by the message's id and its number of claims, so what
// was released, or claimed again by somebody else, is not taken for it.
//
// Thread safety: none; the server's thread owns it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/reply.h"

namespace tarry::session {

class Holders {
 public:
  static constexpr std::size_t kMost = 64 * 1024;
  static constexpr std::size_t kMostClaims = 8 * 1024;

  void note(const core::ClaimReply& reply, std::string holder);
  /// Puts the holder into what is told of a leased message, where it is known.
  void tell(MessageInfo& info) const;

 private:
  struct Claim {
    std::string holder;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> messages;  // id, claims
  };
  std::deque<Claim> claims_;
  std::size_t messages_ = 0;
};

/// "127.0.0.1:40112 curl/7.88.1": a client's address, and what it says it is: of that the first 128
/// bytes, with `?` for what is not printable ASCII.
[[nodiscard]] std::string holder_name(std::string_view peer, const std::string* user_agent);

}  // namespace tarry::session
