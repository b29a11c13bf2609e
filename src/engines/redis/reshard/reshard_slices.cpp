// Reshard: messages go from closed shards to open ones, slice by slice.
#include <utility>

#include "engines/redis/records/member.h"
#include "engines/redis/reshard/reshard_mover.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisView;

// At most this many messages, and bytes of bodies, are on their way at a time.
constexpr std::int64_t kSlice = 200;
constexpr std::int64_t kSliceBytes = 1 << 20;

}  // namespace

// ---- taking over. If an old shard still has the last mover's note of a message, the message is
// still there, or has ended there, so its held copy is void. All other held copies are real. The
// look also makes the old shards refuse the last mover.

void Mover::collect_stale_copies() {
  if (at_ == queue_->closed) return adopt_all();
  run_on(
      queue_->shards[at_], Script::reshard_look, [](RedisCommand&) {},
      [self = shared_from_this()](RedisView told) {
        self->add_stale_copies(told[2]);
        ++self->at_;
        self->collect_stale_copies();
      });
}

void Mover::add_stale_copies(RedisView members) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::string key;
    append_key(key, members[i].text(), secret());
    stale_copies_[&queue_->open_home(key, secret())].emplace_back(members[i].text());
  }
}

void Mover::adopt_all() {
  to_adopt_.clear();
  for (std::size_t i = queue_->closed; i < queue_->shards.size(); ++i) {
    to_adopt_.push_back(&queue_->shards[i]);
  }
  at_ = 0;
  adopt();
}

// ---- one slice: read, put, leave, adopt

void Mover::read() {
  if (at_ == queue_->closed || slices_ == kSlices) return take_stock();
  run_on(
      queue_->shards[at_], Script::reshard_read,
      [](RedisCommand& command) { command.add(kSlice).add(kSliceBytes); },
      [self = shared_from_this()](RedisView told) {
        if (told.size() == 0) {
          ++self->at_;
          return self->read();
        }
        ++self->slices_;
        self->sort(told);
        self->put();
      });
}

void Mover::sort(RedisView told) {
  to_put_.clear();
  to_adopt_.clear();
  std::map<const Place*, Copies> homes;
  for (std::size_t i = 0; i + 1 < told.size(); i += 2) {
    std::string key;
    append_key(key, told[i].text(), secret());
    homes[&queue_->open_home(key, secret())].emplace_back(told[i].text(), told[i + 1].text());
  }
  for (auto& [place, copies] : homes) {
    to_put_.emplace_back(place, std::make_shared<Copies>(std::move(copies)));
    to_adopt_.push_back(place);
  }
}

void Mover::put() {
  if (to_put_.empty()) return leave();
  const auto [place, copies] = to_put_.front();
  to_put_.pop_front();
  run_on(
      *place, Script::reshard_put,
      [copies = copies](RedisCommand& command) {
        for (const auto& [member, copy] : *copies) command.add(member).add(copy);
      },
      [self = shared_from_this()](RedisView) { self->put(); });
}

void Mover::leave() {
  run_on(
      queue_->shards[at_], Script::reshard_leave, [](RedisCommand&) {},
      [self = shared_from_this()](RedisView told) {
        self->add_stale_copies(told);
        self->adopt();
      });
}

void Mover::adopt() {
  if (to_adopt_.empty()) {
    stale_copies_.clear();
    return read();
  }
  const Place* const place = to_adopt_.front();
  to_adopt_.pop_front();
  run_on(
      *place, Script::reshard_adopt,
      [self = shared_from_this(), place](RedisCommand& command) {
        const auto dropped = self->stale_copies_.find(place);
        if (dropped == self->stale_copies_.end()) return;
        for (const std::string& member : dropped->second) command.add(member);
      },
      [self = shared_from_this()](RedisView) { self->adopt(); });
}

}  // namespace tarry::redis
