#include "engines/redis/layouts/keys/layout_seen.h"

#include <utility>

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;

// For at most this many queues a process keeps the remembered forms.
constexpr std::size_t kMostRemembered = 10'000;

std::string seen_key(const LayoutKeys& keys) { return keys.leases + "seen"; }

void remember(const LayoutContext& context, const LayoutKeys& keys, const Seen& seen,
              base::UniqueFunction<void()> done) {
  RedisCommand set("SET");
  set.key(seen_key(keys)).add(spell_seen(seen));
  context.server.command(std::move(set),
                         [done = std::move(done)](Result<RedisReply>) mutable { done(); });
}

// The part of `seen` that can be remembered: forms that `spell_seen` has a name for.
Seen memorable(const Seen& seen) { return parse_seen(spell_seen(seen)); }

}  // namespace

void look_at_seen(const LayoutContext& context, const LayoutKeysPtr& keys,
                  base::UniqueFunction<void(Result<Seen>)> done) {
  call_layout(
      context, keys, Script::layout_seen, [](RedisCommand&) {},
      [&context, keys, done = std::move(done)](Result<RedisReply> told) mutable {
        if (!told) return done(of_a_read(std::move(told).error()));
        const net::RedisView view = told->view();
        if (view.size() != 3) return done(strange_reply(context.server, Script::layout_seen));
        Seen shown = parse_seen(view[0].text());
        if (!view[1].is_nil()) shown.written = written_as(view[1].text());
        const Seen remembered = parse_seen(view[2].text());
        const Seen seen = joined(shown, remembered);
        const Seen news = joined(memorable(seen), remembered);
        if (news == remembered) return done(seen);
        remember(context, *keys, news, [seen, done = std::move(done)]() mutable { done(seen); });
      });
}

void remember_seen(const LayoutContext& context, const LayoutKeysPtr& keys, const Seen& seen,
                   base::UniqueFunction<void(const Seen&)> done) {
  RedisCommand get("GET");
  get.key(seen_key(*keys));
  context.server.command(std::move(get), [&context, keys, seen,
                                          done = std::move(done)](Result<RedisReply> told) mutable {
    if (!told) return done(Seen());
    const Seen remembered = parse_seen(told->view().text());
    const Seen news = joined(memorable(joined(seen, remembered)), remembered);
    if (news == remembered) return done(news);
    remember(context, *keys, news, [news, done = std::move(done)]() mutable { done(news); });
  });
}

void SeenMemory::saw(const LayoutKeysPtr& keys, const Seen& seen,
                     base::UniqueFunction<void()> done) {
  const auto known = known_.find(keys->queue);
  if (known != known_.end()) {
    const Seen news = joined(memorable(joined(seen, known->second)), known->second);
    if (news == known->second) return done();
    known_.erase(known);
  }
  if (known_.size() >= kMostRemembered) known_.clear();
  remember_seen(context_, keys, seen,
                [this, keys, done = std::move(done)](const Seen& now) mutable {
                  known_.insert_or_assign(keys->queue, now);
                  done();
                });
}

}  // namespace tarry::redis
