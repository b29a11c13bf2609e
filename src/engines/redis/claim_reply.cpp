#include "engines/redis/claim_reply.h"

#include <algorithm>
#include <charconv>

#include "engines/redis/body.h"
#include "engines/redis/member.h"
#include "engines/redis/receipt.h"
#include "engines/redis/told_time.h"

namespace tarry::redis {
namespace {

// "1767225600000-42"
bool read_claim_name(std::string_view text, Receipt& receipt) noexcept {
  const char* end = text.data() + text.size();
  const auto time = std::from_chars(text.data(), end, receipt.claimed_ms);
  if (time.ec != std::errc() || time.ptr == end || *time.ptr != '-') return false;
  const auto number = std::from_chars(time.ptr + 1, end, receipt.claim);
  return number.ec == std::errc() && number.ptr == end;
}

}  // namespace

std::optional<ClaimAnswer> read_claim(net::RedisView reply, const Place& place,
                                      std::uint64_t secret, core::ClaimReply& into,
                                      base::Histogram& lateness) {
  const net::RedisView scores = reply[3];
  const net::RedisView bodies = reply[4];
  if (reply.size() != 7 || scores.size() != 2 * bodies.size()) return std::nullopt;
  const std::int64_t now = told_time(reply[0]);
  ClaimAnswer answer;
  answer.claim = reply[2].text();
  if (!reply[6].text().empty()) {
    answer.again_ms = std::max<std::int64_t>(told_time(reply[6]) - now, 0);
  }
  std::vector<Past> pasts(reply[5].is_nil() ? 0 : bodies.size());
  const net::RedisView places = reply[5][0];
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t at = places[i].integer();  // from 1 on
    if (at < 1 || static_cast<std::uint64_t>(at) > pasts.size()) continue;
    pasts[static_cast<std::size_t>(at) - 1] = read_past(reply[5][1][i].text());
  }
  Receipt receipt;
  receipt.queue = place.number;
  receipt.shard = place.shard;
  if (!read_claim_name(answer.claim, receipt) && bodies.size() > 0) return std::nullopt;
  receipt.taken = static_cast<std::uint32_t>(bodies.size());
  const core::Slice queue = core::append(into.bytes, place.queue);
  into.items.reserve(into.items.size() + bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::string_view member = scores[2 * i].text();
    const std::string_view score = scores[2 * i + 1].text();
    const auto body = read_body(bodies[i].text());
    if (!body || !is_sound(*body, member)) {
      answer.damaged.emplace_back(member);
      continue;
    }
    const Past past = pasts.empty() ? Past() : pasts[i];
    core::ClaimedItem item;
    item.queue = queue;
    item.key.offset = static_cast<std::uint32_t>(into.bytes.size());
    append_key(into.bytes, member, secret);
    item.key.size = static_cast<std::uint32_t>(into.bytes.size()) - item.key.offset;
    item.payload = core::append(into.bytes, body->payload);
    item.headers = core::append(into.bytes, body->headers);
    receipt.has_past = score.ends_with(".5");
    item.receipt = core::append(into.bytes, spell(receipt, member, secret));
    item.id = body->id != 0 ? body->id : id_from(member);
    item.due_ms = due_of_score(score);
    item.claimed_ms = now;
    item.lease_ms = reply[1].integer();
    item.attempt = past.attempt + 1;
    item.priority = body->priority;
    item.tallies = past.tallies;
    ++item.tallies.claims;
    if (item.attempt == 1) lateness.record(now - item.due_ms);
    answer.payload_bytes += body->payload.size();
    ++answer.taken;
    into.items.push_back(item);
  }
  return answer;
}

}  // namespace tarry::redis
