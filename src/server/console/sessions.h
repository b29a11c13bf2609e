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
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <tarry/result.h>
#include <tarry/time.h>

#include "server/identity/identity.h"
#include "server/identity/tokens.h"

namespace tarry::console {

/// A session, for people who look at all of them.
struct Shown {
  std::string id;        // names the session in `end_of`, and lets nobody in
  std::string identity;  // the name of its token
  std::string client;    // as `begin` was told
  Time began;
  Time seen;  // its latest request
};

class Sessions {
 public:
  static constexpr std::chrono::hours kIdle{12};
  static constexpr std::size_t kMost = 1'000;  // above it, the one idle for the longest ends

  /// Begins a session, and returns its id: 256 random bits. Error: `io_error` if the system has no
  /// random bytes. `client`: who began it, for `all`: an address, and what browser.
  [[nodiscard]] Result<std::string> begin(identity::IdentityPtr identity, Time now,
                                          std::string client = {});
  /// The identity of the session; null if there is none of that id, or if its token is no longer
  /// valid. Counts as a request of the session.
  [[nodiscard]] identity::IdentityPtr find(std::string_view id, const identity::Tokens& tokens,
                                           Time now);
  void end(std::string_view id);
  /// The sessions whose tokens are valid, the oldest first.
  [[nodiscard]] std::vector<Shown> all(const identity::Tokens& tokens, Time now);
  /// Ends the session of that `Shown::id`. Returns the name of its token; nothing if there is no
  /// such session.
  [[nodiscard]] std::optional<std::string> end_of(std::string_view shown_id);
  /// The `Shown::id` of the session of that id.
  [[nodiscard]] static std::string shown_id(std::string_view id);
  [[nodiscard]] std::size_t size() const noexcept { return sessions_.size(); }

 private:
  struct Session {
    identity::IdentityPtr identity;
    Time began;
    Time seen;
    std::string client;
  };
  [[nodiscard]] static bool has_ended(const Session& session, const identity::Tokens& tokens,
                                      Time now);
  void make_room(Time now);

  // By the digest of the id: the time of a look-up tells nothing of an id.
  std::unordered_map<std::string, Session> sessions_;
};

}  // namespace tarry::console
