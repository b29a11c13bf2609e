#include "engines/redis/layouts/verbs/layout_look.h"

#include <algorithm>

#include "core/claimed.h"
#include "engines/redis/layouts/verbs/layout_verbs.h"

namespace tarry::redis {

void add_wish(const LayoutSpec& spec, const LookWish& wish, net::RedisCommand& command) {
  command.add(std::int64_t{wish.max}).add(wish.lease_ms);
  command.add(static_cast<std::int64_t>(wish.bytes)).add(wish.first_goes ? "1" : "0");
  command.add(wish.nonce);
  if (wish.by_member) {
    command.add(wish.any_state ? "1" : "0");
    for (const std::string& member : wish.members) command.add(member);
    return;
  }
  command.add(static_cast<std::int64_t>(wish.turn)).add(spec.through_list ? "list" : "direct");
  command.add(to_string(spec.entry));
  for (const std::uint32_t shard : wish.shards) command.add(std::int64_t{shard} + 1);
}

std::optional<LookAnswer> read_look(const LayoutSpec& spec, const LayoutKeys& keys,
                                    const LookWish& wish, net::RedisView told,
                                    core::ClaimReply& into, base::Histogram& lateness) {
  constexpr std::size_t kBefore = 7;
  constexpr std::size_t kTold = 5;
  if (told.size() < kBefore || (told.size() - kBefore) % kTold != 0) return std::nullopt;
  const std::int64_t now = told[0].integer();
  LookAnswer answer;
  if (!told[1].text().empty()) {
    answer.again_ms = std::max<std::int64_t>(told[1].integer() - now, 0);
  }
  answer.odd = told[3].integer();
  answer.first_odd = told[4].text();
  answer.wrong_unit = told[5].text();
  answer.seen = parse_seen(told[6].text());
  if (told.size() == kBefore) return answer;
  const core::Slice queue = core::append(into.bytes, keys.queue);
  std::string scratch;
  for (std::size_t at = kBefore; at < told.size(); at += kTold) {
    const std::string_view key = told[at + 1].text();
    const std::string_view body = told[at + 3].text();
    Decoded decoded{body};
    if (spec.layout == Layout::redisson) decoded = decode_value(body, spec.decode, scratch);
    if (at + kTold == told.size() && spec.layout == Layout::redisson) {
      answer.seen.written = written_as(body);
    }
    core::ClaimedItem item;
    item.queue = queue;
    item.key = core::append(into.bytes, key);
    item.payload = core::append(into.bytes, decoded.payload);
    item.receipt =
        core::append(into.bytes, spell_layout_receipt({told[at].text(), wish.nonce, keys.queue}));
    item.id = id_of(key, spec.layout);
    item.due_ms = told[at + 2].integer();
    item.claimed_ms = now;
    item.lease_ms = told[2].integer();
    item.attempt = static_cast<std::uint32_t>(told[at + 4].integer());
    item.priority = kDefaultPriority;
    item.tallies.claims = item.attempt;
    if (const auto late = core::lateness_ms(item)) lateness.record(*late);
    answer.bytes += body.size();
    if (decoded.is_odd) ++answer.undecoded;
    ++answer.taken;
    into.items.push_back(item);
  }
  return answer;
}

}  // namespace tarry::redis
