#include "engines/embedded/tools/salvage_queues.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/shard_rule.h"
#include "engines/embedded/recovery/lenient_replay.h"
#include "engines/embedded/store/key_route.h"

namespace tarry::embedded {
namespace {

// A known name is used only if the chance that it fits by accident is at most 1 in this many.
constexpr double kSure = 1000;
// How many invented names are tried.
constexpr std::uint32_t kTries = 1u << 20;
// More keys would say nothing new.
constexpr std::size_t kMostKeys = 64;

// A queue whose name is lost.
struct Nameless {
  QueueId queue = kNoQueue;
  std::vector<std::string> candidates;  // known names under which all keys so far belong to this
                                        // shard
  double tried = 0;
  std::set<std::string> parts;    // the hashed parts of the keys
  std::vector<std::string> keys;  // one key for each part
  std::uint64_t unreachable = 0;  // messages that no key finds under the present name

  // The chance that such keys all belong to this shard by accident is 1 in this many.
  [[nodiscard]] double chances(std::uint32_t shards) const {
    return std::pow(static_cast<double>(shards), static_cast<double>(keys.size()));
  }
};

class Namer {
 public:
  Namer(const StoreIdentity& store, ReadShard& shard, const SegmentFiles& files)
      : store_(&store), shard_(&shard), state_(shard.state.get()), files_(&files) {}

  SalvagedQueues::Named run(const std::set<std::string>& names) {
    for (const QueueId queue : shard_->unnamed) {
      Nameless nameless;
      nameless.queue = queue;
      for (const std::string& name : names) {
        if (state_->queues.find(name) == kNoQueue) nameless.candidates.push_back(name);
      }
      nameless.tried = static_cast<double>(nameless.candidates.size());
      nameless_.emplace(queue, std::move(nameless));
    }
    read_keys();
    SalvagedQueues::Named told;
    for (const QueueId queue : shard_->unnamed) {
      Nameless& nameless = nameless_.at(queue);
      if (take_candidate(nameless)) continue;
      ++told.unnamed;
      if (nameless.unreachable > 0 && !invent(nameless, names)) {
        told.unreachable += nameless.unreachable;
      }
    }
    return told;
  }

 private:
  [[nodiscard]] bool belongs(const std::string& queue, std::string_view key) const {
    return shard_for_key(*store_, queue, key) == state_->identity().shard;
  }

  void read_keys() {
    std::string buffer;
    for (Handle handle = 0; handle < state_->slab.end(); ++handle) {
      if (!state_->slab.is_live(handle)) continue;
      const Message& message = state_->slab[handle];
      const auto found = nameless_.find(message.queue);
      if (found == nameless_.end() || message.generated_key != 0) continue;
      const auto head = read_put_head(*files_, message.position.segment(shard_->newest_segment),
                                      message.position, buffer);
      if (!head || head->record.ref != Ref{handle, message.id}) continue;
      take_key(found->second, head->record.key);
    }
  }

  void take_key(Nameless& nameless, std::string_view key) {
    std::erase_if(nameless.candidates,
                  [&](const std::string& name) { return !belongs(name, key); });
    if (!belongs(state_->queue(nameless.queue).name, key)) ++nameless.unreachable;
    const auto made = parse_generated_key(key);
    if (made && made->store_tag == state_->store_tag()) return;  // such a key fits every queue
    if (nameless.keys.size() < kMostKeys && nameless.parts.emplace(core::hashed_part(key)).second) {
      nameless.keys.emplace_back(key);
    }
  }

  bool take_candidate(const Nameless& nameless) {
    if (nameless.candidates.size() != 1) return false;
    if (nameless.chances(store_->shards) < kSure * nameless.tried) return false;
    const std::string& name = nameless.candidates.front();
    if (state_->queues.find(name) != kNoQueue) return false;  // another queue has the name by now
    state_->queues.rename(nameless.queue, name);
    return true;
  }

  // Gives the queue an invented name under which all its keys belong to this shard. That needs few
  // keys.
  bool invent(const Nameless& nameless, const std::set<std::string>& names) {
    if (nameless.chances(store_->shards) > kTries) return false;
    const std::string begin = state_->queue(nameless.queue).name + "-";
    for (std::uint32_t i = 2; i < kTries; ++i) {
      const std::string name = begin + std::to_string(i);
      if (std::all_of(nameless.keys.begin(), nameless.keys.end(),
                      [&](const std::string& key) { return belongs(name, key); }) &&
          !names.contains(name)) {
        state_->queues.rename(nameless.queue, name);
        return true;
      }
    }
    return false;
  }

  const StoreIdentity* store_;
  ReadShard* shard_;
  ShardState* state_;
  const SegmentFiles* files_;
  std::unordered_map<QueueId, Nameless> nameless_;
};

std::int64_t told_ms(const ReadShard& shard, QueueId queue) {
  return shard.sound ? LenientReplay::kNothingLost : shard.queues_told_ms[queue];
}

}  // namespace

void SalvagedQueues::tell(const ReadShard& shard) {
  const ShardState& state = *shard.state;
  for (QueueId id = 0; id < state.queues.size(); ++id) {
    const QueueState& queue = state.queue(id);
    if (!queue.is_there() || shard.is_unnamed(id)) continue;
    names_.insert(queue.name);
    Known known{told_ms(shard, id), queue.settings, queue.paused, queue.paused_until_ms,
                queue.removed};
    const auto [best, first] = best_.try_emplace(queue.name, known);
    if (!first && best->second.told_ms < known.told_ms) best->second = known;
  }
}

std::uint64_t SalvagedQueues::agree(ReadShard& shard) const {
  if (shard.sound) return 0;
  ShardState& state = *shard.state;
  std::uint64_t given = 0;
  for (const auto& [name, best] : best_) {
    const QueueId id = state.queues.find(name);
    QueueRecord record;
    record.queue = id;
    record.name = name;
    record.settings = best.settings;
    record.paused = best.paused;
    record.paused_until_ms = best.paused_until_ms;
    if (id == kNoQueue) {
      // A queue with default settings needs no record: a push makes it.
      const bool plain = best.settings == QueueSettings() && !best.paused;
      if (plain || best.removed || state.queues.next() >= core::kMaxQueues) continue;
      record.queue = state.queues.next();
    } else {
      const QueueState& queue = state.queue(id);
      if (queue.settings == best.settings && queue.paused == best.paused &&
          queue.paused_until_ms == best.paused_until_ms) {
        continue;
      }
      record.removed = queue.removed;
    }
    state.evolve(record);
    ++given;
  }
  return given;
}

SalvagedQueues::Named SalvagedQueues::name(const StoreIdentity& store, ReadShard& shard,
                                           const SegmentFiles& files) const {
  if (shard.unnamed.empty()) return {};
  return Namer(store, shard, files).run(names_);
}

}  // namespace tarry::embedded
