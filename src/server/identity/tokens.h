// Tokens: which tokens a server accepts, and whose they are. It keeps hashes only.
//
// Thread safety: const members may be called from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "server/identity/identity.h"

namespace tarry::identity {

/// The name of the token in a server's `token_file`, which may do everything.
inline constexpr std::string_view kTokenFile = "token_file";

class Tokens {
 public:
  /// No token is required: every client is `anyone`.
  Tokens() = default;
  /// One token that may do everything, under the name kTokenFile; if it is empty, none is required.
  [[nodiscard]] static Tokens of(std::string_view secret);

  /// From now on a token is required, even if there is none that would be accepted.
  void require() noexcept { required_ = true; }
  /// Also requires tokens. No two identities may have the same digest.
  void add(Identity identity);

  /// Keeps the secret of a known token, for protocols in which clients sign requests with it
  /// instead of sending it.
  void keep_secret(std::string_view name, std::string secret);

  [[nodiscard]] bool required() const noexcept { return required_; }
  /// The identity of the client that sent this token, which may have ended; null if the token is
  /// unknown. The comparison takes the same time for every unknown token of one length.
  [[nodiscard]] IdentityPtr find(std::string_view secret) const;
  struct Signer {
    IdentityPtr identity;  // it may have ended
    std::string secret;
  };
  /// The token of that name whose secret is kept; null if there is none.
  [[nodiscard]] const Signer* signer(std::string_view name) const;
  /// Whether one of them has this name.
  [[nodiscard]] bool know_name(std::string_view name) const noexcept;
  /// Whether a client with that identity would still get exactly this identity.
  [[nodiscard]] bool still_know(const Identity& identity) const noexcept;

 private:
  bool required_ = false;
  std::vector<IdentityPtr> known_;
  std::vector<Signer> signers_;
};

/// The digest under which a token is kept.
[[nodiscard]] std::string digest_of(std::string_view secret);

}  // namespace tarry::identity
