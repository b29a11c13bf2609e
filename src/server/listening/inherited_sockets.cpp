#include "server/listening/inherited_sockets.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "base/text/text.h"

namespace tarry::listening {
namespace {

constexpr int kFirst = 3;
constexpr std::uint64_t kMost = 1000;

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

}  // namespace

Result<InheritedSockets> InheritedSockets::take() {
  const std::string pid = variable("LISTEN_PID");
  const std::string text = variable("LISTEN_FDS");
  for (const char* name : {"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"}) ::unsetenv(name);
  InheritedSockets all;
  if (text.empty() || pid != std::to_string(::getpid())) return all;
  const auto count = base::parse_u64(text, "LISTEN_FDS", 0, kMost);
  if (!count) return count.error();
  for (int descriptor = kFirst; descriptor < kFirst + static_cast<int>(*count); ++descriptor) {
    auto socket = ReservedPort::adopt(descriptor);
    if (!socket) {
      return Error{ErrorCode::invalid_argument,
                   "LISTEN_FDS " + text + ": " + std::move(socket).error().message +
                       "; a socket unit needs ListenStream= and Accept=no"};
    }
    all.sockets_.push_back(std::move(*socket));
  }
  return all;
}

std::optional<ReservedPort> InheritedSockets::give(const std::string& address) {
  const auto found = std::ranges::find(sockets_, address, &ReservedPort::shown);
  if (found == sockets_.end()) return std::nullopt;
  std::optional<ReservedPort> given(std::move(*found));
  std::swap(*found, sockets_.back());
  sockets_.pop_back();
  return given;
}

}  // namespace tarry::listening
