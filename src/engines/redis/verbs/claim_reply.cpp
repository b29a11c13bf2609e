#include "engines/redis/verbs/claim_reply.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "core/claimed.h"
#include "core/limits.h"
#include "engines/redis/records/body.h"
#include "engines/redis/records/member.h"
#include "engines/redis/records/packed.h"
#include "engines/redis/records/receipt.h"
#include "engines/redis/records/told_time.h"

namespace tarry::redis {
namespace {

// E.g. "1767225600000-42".
bool read_claim_name(std::string_view text, Receipt& receipt) noexcept {
  const char* end = text.data() + text.size();
  const auto time = std::from_chars(text.data(), end, receipt.claimed_ms);
  if (time.ec != std::errc() || time.ptr == end || *time.ptr != '-') return false;
  const auto number = std::from_chars(time.ptr + 1, end, receipt.claim);
  return number.ec == std::errc() && number.ptr == end;
}

// The scores of a claim's messages, one after the other: "1767225600000.5", how many have it, ...
class Runs {
 public:
  explicit Runs(PackedReader runs) : runs_(runs) {
    if (!runs_.array()) runs_ = PackedReader("");
  }

  // Goes on to the next message; false if there are more messages than scores.
  bool next() {
    while (left_ <= 0) {
      const auto score = runs_.text();
      const auto left = score ? runs_.number() : std::nullopt;
      if (!left) return false;
      due_ms_ = due_of_score(*score);
      has_past_ = score->ends_with(".5");
      left_ = *left;
    }
    --left_;
    return true;
  }
  [[nodiscard]] std::int64_t due_ms() const noexcept { return due_ms_; }
  [[nodiscard]] bool has_past() const noexcept { return has_past_; }

 private:
  PackedReader runs_;
  std::int64_t left_ = 0;
  std::int64_t due_ms_ = 0;
  bool has_past_ = false;
};

// Reads the members, after which `packed` is at the runs. False if there are not `count` members.
bool read_members(PackedReader& packed, std::size_t count, std::vector<std::string_view>& members) {
  if (count == 0) return true;
  if (packed.array() != count) return false;
  members.reserve(count);
  while (members.size() < count) {
    const auto member = packed.text();
    if (!member) return false;
    members.push_back(*member);
  }
  return true;
}

// The pasts of the messages, by their place in the claim. Empty: no message has a past.
std::vector<Past> read_pasts(net::RedisView reply, std::size_t messages) {
  std::vector<Past> pasts(reply.is_nil() ? 0 : messages);
  const net::RedisView places = reply[0];
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::int64_t at = places[i].integer();  // counted from 1
    if (at < 1 || static_cast<std::uint64_t>(at) > pasts.size()) continue;
    pasts[static_cast<std::size_t>(at) - 1] = read_past(reply[1][i].text());
  }
  return pasts;
}

// The fields that the message itself gives. The claim gives the rest of the item.
core::ClaimedItem append_bytes(std::string& bytes, std::string_view member, const Body& body,
                               std::uint64_t secret) {
  core::ClaimedItem item;
  item.key.offset = static_cast<std::uint32_t>(bytes.size());
  append_key(bytes, member, secret);
  item.key.size = static_cast<std::uint32_t>(bytes.size()) - item.key.offset;
  item.payload = core::append(bytes, body.payload);
  item.headers = core::append(bytes, body.headers);
  item.id = body.id != 0 ? body.id : id_from(member);
  item.priority = body.priority;
  return item;
}

GateAnswer read_gate(net::RedisView told) {
  GateAnswer gate;
  gate.limited = told[0].integer() != 0;
  gate.held = told[1].integer() != 0;
  for (std::size_t i = 2; i < told.size(); ++i) {
    gate.behind.push_back(static_cast<std::size_t>(told[i].integer()));
  }
  return gate;
}

std::optional<ClaimAnswer> append_claim(net::RedisView reply, const Place& place,
                                        std::uint64_t secret, std::size_t most,
                                        core::ClaimReply& into) {
  if (reply.size() != 7 && reply.size() != 8) return std::nullopt;
  const net::RedisView bodies = reply[4];
  if (bodies.size() > most) return std::nullopt;
  PackedReader packed(reply[3].text());
  std::vector<std::string_view> members;
  if (!read_members(packed, bodies.size(), members)) return std::nullopt;
  Runs runs(packed);
  const std::int64_t now = told_time(reply[0]);
  ClaimAnswer answer;
  answer.claim = reply[2].text();
  answer.has_expired_left = reply[1].integer() < 0;
  if (!reply[6].text().empty()) {
    answer.again_ms = std::max<std::int64_t>(told_time(reply[6]) - now, 0);
  }
  if (reply.size() == 8) answer.gate = read_gate(reply[7]);
  const std::vector<Past> pasts = read_pasts(reply[5], bodies.size());
  Receipt receipt;
  receipt.queue = place.number;
  receipt.shard = place.shard;
  if (!read_claim_name(answer.claim, receipt) && bodies.size() > 0) return std::nullopt;
  receipt.taken = static_cast<std::uint32_t>(bodies.size());
  ReceiptSpeller receipts(receipt, secret);
  const core::Slice queue = core::append(into.bytes, place.queue);
  into.items.reserve(into.items.size() + bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    const std::string_view member = members[i];
    if (!runs.next()) return std::nullopt;
    const auto body = read_body(bodies[i].text());
    if (!body || !is_sound(*body, member)) {
      answer.damaged.emplace_back(member);
      continue;
    }
    core::ClaimedItem item = append_bytes(into.bytes, member, *body, secret);
    item.receipt.offset = static_cast<std::uint32_t>(into.bytes.size());
    receipts.append(into.bytes, member, runs.has_past());
    item.receipt.size = static_cast<std::uint32_t>(into.bytes.size()) - item.receipt.offset;
    item.queue = queue;
    item.due_ms = runs.due_ms();
    item.claimed_ms = now;
    item.lease_ms = reply[1].integer();
    const Past past = pasts.empty() ? Past() : pasts[i];
    item.attempt = std::min(past.attempt + 1, core::kMaxAttempts);
    item.tallies = past.tallies;
    ++item.tallies.claims;
    answer.payload_bytes += body->payload.size();
    ++answer.taken;
    into.items.push_back(item);
  }
  return answer;
}

}  // namespace

std::optional<ClaimAnswer> read_claim(net::RedisView reply, const Place& place,
                                      std::uint64_t secret, std::size_t most,
                                      core::ClaimReply& into, base::Histogram& lateness) {
  const std::size_t items = into.items.size();
  const std::size_t bytes = into.bytes.size();
  auto answer = append_claim(reply, place, secret, most, into);
  if (!answer) {
    into.items.resize(items);
    into.bytes.resize(bytes);
    return std::nullopt;
  }
  for (std::size_t i = items; i < into.items.size(); ++i) {
    if (const auto late = core::lateness_ms(into.items[i])) lateness.record(*late);
  }
  return answer;
}

}  // namespace tarry::redis
