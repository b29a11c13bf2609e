#include "server/console/sessions.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/hex.h"

namespace tarry::console {

Result<std::string> Sessions::begin(identity::IdentityPtr identity, Time now) {
  std::array<char, 32> bytes{};
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const ssize_t got = ::getrandom(bytes.data() + filled, bytes.size() - filled, 0);
    if (got < 0 && errno != EINTR) {
      return Error{ErrorCode::io_error,
                   "the system gives no random bytes: " + std::generic_category().message(errno)};
    }
    if (got > 0) filled += static_cast<std::size_t>(got);
  }
  make_room(now);
  std::string id = base::hex_digits({bytes.data(), bytes.size()});
  sessions_.insert_or_assign(identity::digest_of(id), Session{std::move(identity), now});
  return id;
}

identity::IdentityPtr Sessions::find(std::string_view id, const identity::Tokens& tokens,
                                     Time now) {
  const auto found = sessions_.find(identity::digest_of(id));
  if (found == sessions_.end()) return nullptr;
  Session& session = found->second;
  if (now - session.seen >= kIdle || session.identity->has_ended(now) ||
      !tokens.still_know(*session.identity)) {
    sessions_.erase(found);
    return nullptr;
  }
  session.seen = now;
  return session.identity;
}

void Sessions::end(std::string_view id) { sessions_.erase(identity::digest_of(id)); }

void Sessions::make_room(Time now) {
  if (sessions_.size() < kMost) return;
  std::erase_if(sessions_, [now](const auto& one) { return now - one.second.seen >= kIdle; });
  if (sessions_.size() < kMost) return;
  sessions_.erase(
      std::ranges::min_element(sessions_, {}, [](const auto& one) { return one.second.seen; }));
}

}  // namespace tarry::console
