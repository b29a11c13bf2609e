// Mover: one step of giving a queue another number of shards. docs/decisions/0006-resharding.md
// says why nothing is lost or doubled on the way. The record and the calls are in reshard.cpp, the
// slices of messages in reshard_slices.cpp, the end in reshard_end.cpp.
//
// Thread safety: none; on the io_context's thread. It keeps itself alive until it has answered.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engines/redis/node/node_replicas.h"
#include "engines/redis/records/record.h"
#include "engines/redis/verbs/asked.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

class Mover : public std::enable_shared_from_this<Mover> {
 public:
  /// How many calls of Redis to make at most; negative: as many as needed.
  Mover(Context& context, AskedPtr asked, std::int64_t most_calls);

  void start();

 private:
  using Stage = QueueRecord::Stage;
  using Next = void (Mover::*)();
  using Build = base::UniqueFunction<void(net::RedisCommand&)>;
  using Take = base::UniqueFunction<void(net::RedisView)>;
  using Copies = std::vector<std::pair<std::string, std::string>>;  // member, copy

  // How many slices one step moves.
  static constexpr int kSlices = 25;

  ReshardStep& step() { return std::get<ReshardStep>(asked_->reply); }
  [[nodiscard]] std::uint32_t partitions() const { return context_.directory.partitions(); }
  [[nodiscard]] std::uint64_t secret() const { return context_.identity.secret(); }

  void fail(Error error);
  /// Ends the step with an error, because replicas do not follow.
  void stop_at(const Error& error);
  [[nodiscard]] Error another_goes_on() const;

  // -- calls, one after the other
  bool may_call();
  base::UniqueFunction<void(Result<net::RedisReply>)> taking(Take take);
  void run(Script script, Build build, Take take);
  void run_on(const Place& place, Script script, Build build, Take take);

  // -- the record
  void look_at(Directory::Read found);
  void end_removal();
  void begin();
  void check_limits(QueuePtr queue);
  void make_keys();
  void make_next_keys();
  void write_record(bool with_turn, Next next);
  void go_on();
  void begin_step();

  // -- taking over
  void collect_stale_copies();
  void add_stale_copies(net::RedisView members);
  void adopt_all();

  // -- one slice
  void read();
  void sort(net::RedisView told);
  void put();
  void leave();
  void adopt();

  // -- the end
  void take_stock();
  void look();
  void clean(std::string from);
  void note_inboxes(net::RedisView fields);
  void look_at_inboxes();
  void look_at_inbox(std::string from);
  void tell_of_inboxes();
  void add_counters_of(std::size_t shard);
  void retire();
  void retire_next();
  void end();

  Context& context_;
  AskedPtr asked_;
  const core::ReshardRequest& request_;
  std::int64_t calls_left_;
  NodeReplicas replicas_;
  QueueRecord record_;
  std::string text_;    // the record as the store spells it
  bool first_ = false;  // this step began the turn
  std::vector<Place> places_to_make_;
  QueuePtr queue_;
  std::size_t at_ = 0;       // present index in the shards; closed ones come first
  std::size_t cleaned_ = 0;  // how many closed shards have been cleaned
  int slices_ = 0;
  std::map<const Place*, std::vector<std::string>> stale_copies_;
  std::deque<std::pair<const Place*, std::shared_ptr<Copies>>> to_put_;
  std::deque<const Place*> to_adopt_;
  // By partition: the last entry that was taken from its inbox. An inbox is in the second map when
  // it no longer has that entry or earlier ones.
  std::map<std::string, std::string> inboxes_to_check_;
  std::map<std::string, std::string> inboxes_checked_;
  std::vector<std::vector<std::pair<std::string, std::int64_t>>> counted_;
  std::string bucket_;  // of the first closed shard
  std::vector<std::shared_ptr<Place>> old_;
};

}  // namespace tarry::redis
