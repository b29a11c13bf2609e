#include "server/identity/tokens.h"

#include <algorithm>
#include <utility>

#include "base/secrets/token.h"
#include "net/sha256.h"

namespace tarry::identity {

Tokens Tokens::of(std::string_view secret) {
  Tokens tokens;
  if (secret.empty()) return tokens;
  tokens.add({std::string(kTokenFile), Scopes::all(), {"*"}, {}, digest_of(secret)});
  return tokens;
}

void Tokens::add(Identity identity) {
  require();
  known_.push_back(std::make_shared<const Identity>(std::move(identity)));
}

void Tokens::keep_secret(std::string_view name, std::string secret) {
  for (const IdentityPtr& known : known_) {
    if (known->name == name) signers_.push_back({known, std::move(secret)});
  }
}

const Tokens::Signer* Tokens::signer(std::string_view name) const {
  const auto found = std::ranges::find_if(
      signers_, [&](const Signer& signer) { return signer.identity->name == name; });
  return found == signers_.end() ? nullptr : &*found;
}

IdentityPtr Tokens::find(std::string_view secret) const {
  if (!required_) return anyone();
  const std::string digest = digest_of(secret);
  IdentityPtr found;
  // All are compared, so that the time tells nothing of the place.
  for (const IdentityPtr& known : known_) {
    if (base::is_same_secret(digest, known->digest)) found = known;
  }
  return found;
}

bool Tokens::still_know(const Identity& identity) const noexcept {
  if (!required_) return true;
  return std::ranges::any_of(known_, [&](const IdentityPtr& known) { return *known == identity; });
}

bool Tokens::know_name(std::string_view name) const noexcept {
  return std::ranges::any_of(known_, [&](const IdentityPtr& known) { return known->name == name; });
}

std::string digest_of(std::string_view secret) { return net::sha256_hex(secret); }

}  // namespace tarry::identity
