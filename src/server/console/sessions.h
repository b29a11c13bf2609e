// The console's sessions: who has shown a token, and goes by a cookie since. They are in memory
// only, so a restart ends them all.
//
// A session has no rights of its own: it is worth what its token is worth at the moment. It ends by
// `end`, with its token, after kIdle without a request, and if there are too many sessions.
//
// Thread safety: the server's thread only.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include <tarry/result.h>
#include <tarry/time.h>

#include "server/identity/identity.h"
#include "server/identity/tokens.h"

namespace tarry::console {

class Sessions {
 public:
  static constexpr std::chrono::hours kIdle{12};
  static constexpr std::size_t kMost = 1'000;  // above it, the one idle for the longest ends

  /// Begins a session, and returns its id: 256 random bits. Error: `io_error` if the system has no
  /// random bytes.
  [[nodiscard]] Result<std::string> begin(identity::IdentityPtr identity, Time now);
  /// The identity of the session; null if there is none of that id, or if its token is no longer
  /// valid. Counts as a request of the session.
  [[nodiscard]] identity::IdentityPtr find(std::string_view id, const identity::Tokens& tokens,
                                           Time now);
  void end(std::string_view id);
  [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }

 private:
  struct Session {
    identity::IdentityPtr identity;
    Time seen;
  };
  void make_room(Time now);

  // By the digest of the id: the time of a look-up tells nothing of an id.
  std::unordered_map<std::string, Session> sessions_;
};

}  // namespace tarry::console
