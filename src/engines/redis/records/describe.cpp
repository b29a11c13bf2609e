#include "engines/redis/records/describe.h"

#include <algorithm>
#include <string>

#include "core/limits.h"
#include "core/rules/headers.h"
#include "engines/redis/records/body.h"
#include "engines/redis/records/member.h"
#include "engines/redis/records/told_time.h"

namespace tarry::redis {
namespace {

constexpr std::string_view kDamagedBody = "its body is damaged";

void take_past(const Past& past, MessageInfo& info) {
  info.attempt = past.attempt;
  info.tallies = past.tallies;
}

// False if the body cannot be read.
bool take_remembered(net::RedisView told, std::string_view member, MessageInfo& info) {
  info.state = State::remembered;
  const auto remembered = read_remembered(told[3].text());
  if (!remembered) return false;
  info.id = remembered->id != 0 ? remembered->id : id_from(member);
  info.due = Time(Millis(remembered->due_ms));
  info.priority = remembered->priority;
  info.settlement = remembered->settlement;
  info.kept_until = Time(Millis(told_time(told[2])));
  take_past(remembered->past, info);
  return true;
}

}  // namespace

std::optional<ToldMessage> read_message(net::RedisView told, const Place& place,
                                        std::uint64_t secret, std::int64_t now_ms,
                                        bool with_payload) {
  if (told.size() < 7) return std::nullopt;
  const std::string_view member = told[0].text();
  const std::string_view where = told[1].text();
  ToldMessage message;
  MessageInfo& info = message.info;
  info.queue = place.queue;
  append_key(info.key, member, secret);
  if (where == "r") {
    message.is_damaged = !take_remembered(told, member, info);
    if (message.is_damaged) info.reason = kDamagedBody;
    return message;
  }
  take_past(read_past(told[4].text()), info);
  const std::int64_t score = told_time(told[2]);
  info.due = Time(Millis(score));
  if (where == "w") {
    info.state = score <= now_ms ? State::ready : State::scheduled;
  } else if (where == "l") {
    info.state = State::leased;
    info.stopping = told[6].text() == "1";
    info.lease_left = Millis(std::max<std::int64_t>(told_time(told[5]) - now_ms, 0));
    // PAST does not count the present claim: it is written when the claim ends.
    info.attempt = std::min(info.attempt + 1, core::kMaxAttempts);
    ++info.tallies.claims;
  } else if (where == "d") {
    const DeadFacts dead = read_dead(told[4].text());
    info.state = State::dead;
    info.due = Time(Millis(dead.due_ms));
    info.kept_until = Time(Millis(score));
    info.reason = dead.reason;
  } else {
    return std::nullopt;
  }
  const auto body = read_body(told[3].text());
  message.is_damaged = !body || (with_payload && !is_sound(*body, member));
  if (message.is_damaged) {
    info.reason += (info.reason.empty() ? "" : "; ") + std::string(kDamagedBody);
    return message;
  }
  info.id = body->id != 0 ? body->id : id_from(member);
  info.priority = body->priority;
  info.max_attempts = body->max_attempts;
  if (body->expiry.any()) {
    info.expire_at = Time(Millis(body->expiry.at_ms));
    if (body->expiry.after_ms != 0) info.expire = Millis(body->expiry.after_ms);
  }
  if (body->pushed_ms) info.pushed = Time(Millis(*body->pushed_ms));
  if (auto headers = core::decode_headers(body->headers)) info.headers = std::move(*headers);
  if (with_payload) info.payload = body->payload;
  return message;
}

std::uint64_t bytes_of(const MessageInfo& info) noexcept {
  std::uint64_t bytes =
      sizeof(MessageInfo) + info.key.size() + info.reason.size() + info.payload.size();
  for (const Header& header : info.headers) {
    bytes += sizeof(Header) + header.name.size() + header.value.size();
  }
  return bytes;
}

}  // namespace tarry::redis
