#include "server/console/sessions.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/text/hex.h"

namespace tarry::console {
namespace {

// A shown id is the first 16 hex digits of the digest: they tell a thousand sessions apart.
constexpr std::size_t kShownDigits = 16;

}  // namespace

Result<std::string> Sessions::begin(identity::IdentityPtr identity, Time now, std::string client) {
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
  sessions_.insert_or_assign(identity::digest_of(id),
                             Session{std::move(identity), now, now, std::move(client)});
  return id;
}

identity::IdentityPtr Sessions::find(std::string_view id, const identity::Tokens& tokens,
                                     Time now) {
  const auto found = sessions_.find(identity::digest_of(id));
  if (found == sessions_.end()) return nullptr;
  Session& session = found->second;
  if (has_ended(session, tokens, now)) {
    sessions_.erase(found);
    return nullptr;
  }
  session.seen = now;
  return session.identity;
}

bool Sessions::has_ended(const Session& session, const identity::Tokens& tokens, Time now) {
  return now - session.seen >= kIdle || session.identity->has_ended(now) ||
         !tokens.still_know(*session.identity);
}

void Sessions::end(std::string_view id) { sessions_.erase(identity::digest_of(id)); }

std::string Sessions::shown_id(std::string_view id) {
  return identity::digest_of(id).substr(0, kShownDigits);
}

std::vector<Shown> Sessions::all(const identity::Tokens& tokens, Time now) {
  std::erase_if(sessions_, [&](const auto& one) { return has_ended(one.second, tokens, now); });
  std::vector<Shown> shown;
  shown.reserve(sessions_.size());
  for (const auto& [digest, one] : sessions_) {
    shown.push_back(
        {digest.substr(0, kShownDigits), one.identity->name, one.client, one.began, one.seen});
  }
  std::ranges::sort(shown, {}, [](const Shown& one) { return std::tie(one.began, one.id); });
  return shown;
}

std::optional<std::string> Sessions::end_of(std::string_view shown_id) {
  if (shown_id.size() != kShownDigits) return std::nullopt;
  const auto found = std::ranges::find_if(
      sessions_, [&](const auto& one) { return one.first.starts_with(shown_id); });
  if (found == sessions_.end()) return std::nullopt;
  std::string name = found->second.identity->name;
  sessions_.erase(found);
  return name;
}

void Sessions::make_room(Time now) {
  if (sessions_.size() < kMost) return;
  std::erase_if(sessions_, [now](const auto& one) { return now - one.second.seen >= kIdle; });
  if (sessions_.size() < kMost) return;
  sessions_.erase(
      std::ranges::min_element(sessions_, {}, [](const auto& one) { return one.second.seen; }));
}

}  // namespace tarry::console
