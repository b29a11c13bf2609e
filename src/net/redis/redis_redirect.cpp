#include "net/redis/redis_redirect.h"

#include <charconv>
#include <string>

#include "net/redis/protocol/redis_slot.h"

namespace tarry::net {
namespace {

template <typename Number>
std::optional<Number> redis_number(std::string_view text) noexcept {
  Number value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc() || read.ptr != end) return {};
  return value;
}

std::optional<std::uint16_t> slot_of(std::int64_t number) noexcept {
  if (number < 0 || number >= kRedisSlots) return {};
  return static_cast<std::uint16_t>(number);
}

// A server that does not know its own name sends "?" or an empty name.
RedisAddress address_of(std::string_view host, std::uint16_t port, const RedisAddress& from) {
  const bool unknown = host.empty() || host == "?";
  return {unknown ? from.host : std::string(host), port};
}

}  // namespace

std::optional<RedisRedirect> redis_redirect(std::string_view error, const RedisAddress& from) {
  RedisRedirect redirect;
  if (error.starts_with("MOVED ")) {
    error.remove_prefix(6);
  } else if (error.starts_with("ASK ")) {
    error.remove_prefix(4);
    redirect.ask = true;
  } else {
    return {};
  }
  const std::size_t space = error.find(' ');
  const std::size_t colon = error.rfind(':');
  if (space == std::string_view::npos || colon == std::string_view::npos || colon < space) {
    return {};
  }
  const auto number = redis_number<std::uint16_t>(error.substr(0, space));
  const auto port = redis_number<std::uint16_t>(error.substr(colon + 1));
  if (!number || *number >= kRedisSlots || !port || *port == 0) return {};
  redirect.slot = *number;
  redirect.to = address_of(error.substr(space + 1, colon - space - 1), *port, from);
  return redirect;
}

Result<std::vector<RedisSlotRange>> redis_slot_ranges(RedisView reply, const RedisAddress& from) {
  const Error unreadable = {ErrorCode::unavailable, "Redis at " + from.host + ":" +
                                                        std::to_string(from.port) +
                                                        " has a slot map that cannot be read"};
  if (reply.kind() != RedisView::Kind::array) return unreadable;
  std::vector<RedisSlotRange> ranges;
  for (std::size_t i = 0; i < reply.size(); ++i) {
    const RedisView range = reply[i];
    const auto first = slot_of(range[0].integer());
    const auto last = slot_of(range[1].integer());
    const RedisView master = range[2];
    const std::int64_t port = master[1].integer();
    if (range.size() < 3 || !first || !last || *first > *last || port < 1 || port > 65'535) {
      return unreadable;
    }
    ranges.push_back(
        {*first, *last, address_of(master[0].text(), static_cast<std::uint16_t>(port), from)});
  }
  return ranges;
}

}  // namespace tarry::net
