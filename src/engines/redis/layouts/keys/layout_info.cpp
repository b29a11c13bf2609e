#include "engines/redis/layouts/keys/layout_info.h"

#include <charconv>

#include "engines/redis/layouts/keys/layout_call.h"
#include "engines/redis/layouts/redisson/redisson_value.h"

namespace tarry::redis {
namespace {

std::int64_t number_in(std::string_view text) noexcept {
  std::int64_t number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

State state_of(std::string_view letter) noexcept {
  if (letter == "s") return State::scheduled;
  if (letter == "y") return State::ready;
  if (letter == "d") return State::dead;
  return State::leased;
}

}  // namespace

MessageInfo layout_info(const LayoutSpec& spec, const LayoutKeys& keys, std::string_view key,
                        std::string_view state, std::string_view due, std::string_view lease_left,
                        std::int64_t attempts) {
  MessageInfo info;
  info.id = id_of(key, spec.layout);
  info.queue = keys.queue;
  info.key = key;
  info.state = state_of(state);
  info.stopping = state == "p";
  info.due = Time(Millis(number_in(due)));
  info.attempt = static_cast<std::uint32_t>(attempts);
  info.tallies.claims = info.attempt;
  if (info.state == State::leased) {
    info.lease_left = Millis(number_in(lease_left));
  }
  return info;
}

std::string layout_payload(const LayoutSpec& spec, std::string_view body) {
  if (spec.layout != Layout::redisson) return std::string(body);
  std::string scratch;
  return std::string(decode_value(body, spec.decode, scratch).payload);
}

std::string stray_reason(Layout layout, State state) {
  if (layout != Layout::hash) return "its entry cannot be unpacked, and was set aside";
  if (state == State::dead) return "it has a body in the HASH, and no member in the ZSET";
  return "it has a member in the ZSET, and no body in the HASH";
}

}  // namespace tarry::redis
