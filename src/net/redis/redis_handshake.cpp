#include "net/redis/redis_handshake.h"

#include <utility>

#include "base/text/text.h"
#include "net/redis/redis_stream.h"

namespace tarry::net {
namespace {

// How many bytes of a server's error are shown: some errors are a page long.
constexpr std::size_t kMaxRedisWords = 160;

}  // namespace

std::string redis_says(std::string_view said) {
  std::string words(said.substr(0, kMaxRedisWords));
  for (char& c : words) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = ' ';
  }
  return said.size() > kMaxRedisWords ? words + "..." : words;
}

RedisHandshake::RedisHandshake(const RedisOptions& options) : options_(options) {
  if (!options.user.empty() || !options.password.empty()) steps_.push_back(Step::auth);
  if (!options.client_name.empty()) steps_.push_back(Step::name);
  if (options.sentinels) steps_.push_back(Step::role);
  if (options.database != 0) steps_.push_back(Step::select);
  steps_.push_back(Step::ping);
}

std::string RedisHandshake::bytes() const {
  std::string all;
  for (const Step step : steps_) {
    switch (step) {
      case Step::auth: {
        RedisCommand command("AUTH");
        if (!options_.user.empty()) command.add(options_.user);
        all += std::move(command.add(options_.password)).take();
        break;
      }
      case Step::name:
        all += std::move(RedisCommand("CLIENT").add("SETNAME").add(options_.client_name)).take();
        break;
      case Step::role: all += RedisCommand("ROLE").take(); break;
      case Step::select:
        all += std::move(RedisCommand("SELECT").add(std::int64_t{options_.database})).take();
        break;
      case Step::ping: all += RedisCommand("PING").take(); break;
    }
  }
  return all;
}

Result<void> RedisHandshake::take(RedisView reply) {
  const Step step = steps_[taken_++];
  if (!reply.is_error()) {
    if (step != Step::role || reply[0].text() == "master") return {};
    return failed(ErrorCode::unavailable, "is not a master, although its sentinels say so",
                  "it says that it is a " + redis_says(reply[0].text()));
  }
  std::optional<Error> error = judge(step, reply.text());
  if (error) return std::move(*error);
  return {};
}

std::optional<Error> RedisHandshake::judge(Step step, std::string_view said) const {
  using enum ErrorCode;
  if (said.starts_with("LOADING")) return failed(unavailable, "is loading its dataset", {});
  if (said.starts_with("ERR max number of clients")) {
    return failed(unavailable, "has no room for another connection", said);
  }
  if (said.starts_with("DENIED")) return failed(permission_denied, "refused the connection", said);
  switch (step) {
    case Step::auth:
      return failed(permission_denied,
                    options_.user.empty() ? "refused the password"
                                          : "refused user " + base::quoted(options_.user),
                    said);
    case Step::name: return std::nullopt;
    case Step::role:
      if (said.starts_with("NOAUTH")) break;
      return failed(said.starts_with("NOPERM") ? permission_denied : unavailable,
                    "does not say whether it is a master", said);
    case Step::select:
      if (said.starts_with("NOAUTH")) break;
      return failed(said.starts_with("NOPERM") ? permission_denied : invalid_argument,
                    "refused database " + std::to_string(options_.database), said);
    case Step::ping:
      // The user may not PING, but the server has accepted it and is ready.
      if (said.starts_with("NOPERM")) return std::nullopt;
      break;
  }
  if (said.starts_with("NOAUTH")) return failed(permission_denied, "asks for a password", said);
  return failed(unavailable, "is not ready", said);
}

Error RedisHandshake::failed(ErrorCode code, std::string_view what, std::string_view said) const {
  std::string message = redis_title(options_) + " " + std::string(what);
  if (!said.empty()) message += ": " + redis_says(said);
  return {code, std::move(message)};
}

}  // namespace tarry::net
