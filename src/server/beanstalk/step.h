// Next: the next step of a command: a request to the engine and its continuation, or the reply to
// the client.
//
// Thread safety: none.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "core/reply.h"
#include "core/request.h"

namespace tarry::beanstalk {

struct Next;
using Then = base::UniqueFunction<Next(Result<core::Reply>&)>;

struct Next {
  std::optional<core::Request> request = {};
  Then then = {};                   // called with the answer to `request`
  std::string reply = {};           // if there is no request
  std::optional<Error> error = {};  // why the reply says that it failed, for the log
  unsigned status = 200;            // in HTTP's terms, for the log and the metrics
};

[[nodiscard]] inline Next say(std::string reply, unsigned status = 200) {
  Next next;
  next.reply = std::move(reply);
  next.status = status;
  return next;
}
[[nodiscard]] inline Next ask(core::Request request, Then then) {
  Next next;
  next.request = std::move(request);
  next.then = std::move(then);
  return next;
}

/// The store failed: the client gets the reply to this error, `times` times.
[[nodiscard]] Next fail(const Error& error, std::size_t times = 1);
[[nodiscard]] std::string_view word_of(const Error& error) noexcept;

inline constexpr std::string_view kNotFound = "NOT_FOUND\r\n";
inline constexpr std::string_view kOutOfMemory = "OUT_OF_MEMORY\r\n";
inline constexpr std::string_view kInternalError = "INTERNAL_ERROR\r\n";
// Not of beanstalkd's protocol. A server without tokens never says them.
inline constexpr std::string_view kUnauthorized = "UNAUTHORIZED\r\n";
inline constexpr std::string_view kForbidden = "FORBIDDEN\r\n";

[[nodiscard]] inline Next not_found() { return say(std::string(kNotFound), 404); }
[[nodiscard]] inline Next forbidden() { return say(std::string(kForbidden), 403); }

}  // namespace tarry::beanstalk
