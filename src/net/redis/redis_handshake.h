// RedisHandshake: the commands that a connection sends before it is used (AUTH, CLIENT SETNAME,
// ROLE if it must lead to a master, SELECT, PING, all at once), and what their answers mean. Thanks
// to the PING, a server that demands a password or is still loading its data is noticed before a
// caller's command fails.
//
// Thread safety: none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/result.h>

#include "net/redis/redis_client.h"

namespace tarry::net {

/// Prepares a server's text for a message: makes it one line, and shortens it if it is long.
[[nodiscard]] std::string redis_says(std::string_view said);

class RedisHandshake {
 public:
  explicit RedisHandshake(const RedisOptions& options);

  [[nodiscard]] std::size_t replies() const noexcept { return steps_.size(); }
  /// The commands, encoded for sending.
  [[nodiscard]] std::string bytes() const;

  /// Takes the next reply. An error ends the handshake; it is one line that names the server.
  [[nodiscard]] Result<void> take(RedisView reply);
  [[nodiscard]] bool done() const noexcept { return taken_ == steps_.size(); }

 private:
  enum class Step : std::uint8_t { auth, name, role, select, ping };

  [[nodiscard]] std::optional<Error> judge(Step step, std::string_view said) const;
  [[nodiscard]] Error failed(ErrorCode code, std::string_view what, std::string_view said) const;

  const RedisOptions& options_;
  std::vector<Step> steps_;
  std::size_t taken_ = 0;
};

}  // namespace tarry::net
