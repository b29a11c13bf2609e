// Holders: which client claimed which message through this server, for `get`. The store knows a
// lease, but not its holder.
//
// It keeps only the latest claims (up to kMost messages and kMostClaims claims), so it does not
// know the holders of older leases. A claim is identified by the message's id and the message's
// number of claims, so that it is not confused with a later claim.
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
  /// Adds the holder to the info of a leased message, if the holder is known.
  void tell(MessageInfo& info) const;

 private:
  struct Claim {
    std::string holder;
    std::vector<std::pair<std::uint64_t, std::uint32_t>> messages;  // id, claims
  };
  std::deque<Claim> claims_;
  std::size_t messages_ = 0;
};

/// "127.0.0.1:40112 curl/7.88.1": a client's address and the first 128 bytes of its User-Agent,
/// with `?` for characters that are not printable ASCII.
[[nodiscard]] std::string holder_name(std::string_view peer, const std::string* user_agent);

}  // namespace tarry::session
