#include "engines/redis/inbox/inbox.h"

#include <charconv>
#include <initializer_list>
#include <random>
#include <utility>

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

constexpr std::int64_t kMostEntries = 100;  // a batch; their marks stay in the shards' META
constexpr std::int64_t kBatchBytes = 4 << 20;
constexpr std::int64_t kKept = 1'000;       // entries that are set aside, at most
constexpr std::int64_t kMostHeld = 10'000;  // entries; each run reads all of them again
constexpr std::string_view kTold = "in";

std::string random_name() {
  std::random_device random;
  return std::to_string((std::uint64_t{random()} << 32) | random());
}

void add_keys(RedisCommand& command, std::uint32_t partition,
              std::initializer_list<std::string_view> names) {
  command.add(static_cast<std::int64_t>(names.size()));
  for (const std::string_view name : names) command.key(partition_key(partition, name));
}

// True if every shard would answer this error.
bool waits_for_all(const Error& error) noexcept {
  return error.code == ErrorCode::no_space || error.code == ErrorCode::closed;
}

}  // namespace

Inbox::Inbox(Context& context, InboxOptions options)
    : context_(context),
      options_(std::move(options)),
      name_(random_name()),
      states_(context.directory.partitions()) {}

void Inbox::swept(std::uint32_t partition, RedisView found) {
  if (found.kind() == RedisView::Kind::text) {
    return complain(partition, std::string(found.text()));
  }
  if (found.integer() > 0 || !states_[partition].made) return drain(partition);
  if (!states_[partition].draining) recovered(partition);  // another process may have drained it
}

bool Inbox::told(std::string_view channel, std::string_view message) {
  if (message != kTold) return false;  // shards' names have a slash
  std::uint32_t partition = 0;
  const std::size_t open = channel.find('{');
  if (open == std::string_view::npos) return true;
  (void)std::from_chars(channel.data() + open + 1, channel.data() + channel.size(), partition);
  if (partition < states_.size()) drain(partition);
  return true;
}

void Inbox::drain(std::uint32_t partition) {
  State& state = states_[partition];
  state.again = state.draining;
  if (state.draining) return;
  state.draining = true;
  state.from = "-";
  state.left = 0;
  state.held.clear();
  state.failed.reset();
  context_.identity.check([this, partition](Result<void> checked) {
    if (!checked) return stop(partition, checked.error());
    read(partition);
  });
}

void Inbox::read(std::uint32_t partition) {
  State& state = states_[partition];
  if (state.left == 0) state.again = false;
  context_.server.run(
      Script::inbox_read,
      [this, partition](RedisCommand& command) {
        add_keys(command, partition, {"in", "in:bad", "in:by", "heads", "agenda"});
        command.add(context_.server.time_argument()).add(name_).add(options_.hold_ms);
        command.add(kMostEntries).add(kBatchBytes);
        command.add(static_cast<std::int64_t>(longest_inbox_entry(options_.limits)));
        command.add(states_[partition].from);
      },
      [this, partition](Result<RedisReply> reply) {
        if (!reply) return stop(partition, reply.error());
        states_[partition].made = true;
        take(partition, *std::move(reply));
      });
}

void Inbox::take(std::uint32_t partition, RedisReply reply) {
  const InboxBatchPtr batch = read_inbox_batch(std::move(reply), partition, options_.limits);
  if (batch == nullptr) {
    return stop(partition, strange_reply(context_.server, Script::inbox_read));
  }
  if (batch->items.empty()) {
    const State& state = states_[partition];
    if (state.failed) return stop(partition, *state.failed);
    if (!batch->is_others) recovered(partition);
    return end(partition);
  }
  batch->held = states_[partition].held;
  take_inbox_batch(context_, batch, [this, partition, batch] { done(partition, batch); });
}

void Inbox::done(std::uint32_t partition, const InboxBatchPtr& batch) {
  bool any = false;
  for (const InboxItem& item : batch->items) any = any || item.answered;
  if (!any) return go_on(partition, *batch);
  context_.server.run(
      Script::inbox_done,
      [this, partition, batch](RedisCommand& command) {
        add_keys(command, partition, {"in", "in:bad", "in:by"});
        command.add(name_).add(kKept);
        for (const InboxItem& item : batch->items) {
          if (item.answered) command.add(item.id).add(item.why);
        }
      },
      [this, partition, batch](Result<RedisReply> reply) {
        if (!reply) return stop(partition, reply.error());
        tell_of(partition, *batch, reply->view().integer());
        go_on(partition, *batch);
      });
}

void Inbox::go_on(std::uint32_t partition, InboxBatch& batch) {
  State& state = states_[partition];
  state.held = std::move(batch.held);
  if (batch.failed && (!state.failed || batch.failed->message < state.failed->message)) {
    state.failed = std::move(batch.failed);
  }
  for (const InboxItem& item : batch.items) state.left += item.answered ? 0 : 1;
  if (state.left == 0)
    return read(partition);  // entries that arrived meanwhile are at the head, too
  if (state.left >= kMostHeld || waits_for_all(*state.failed)) {
    return stop(partition, *state.failed);
  }
  state.from = "(" + std::string(batch.items.back().id);
  read(partition);
}

void Inbox::end(std::uint32_t partition) {
  State& state = states_[partition];
  state.draining = false;
  if (state.again) drain(partition);
}

void Inbox::stop(std::uint32_t partition, const Error& error) {
  states_[partition].draining = false;
  // The connection broke, perhaps because the engine closes. If it stays broken, the next attempt
  // reports that.
  if (error.code == ErrorCode::closed || error.code == ErrorCode::unknown_outcome) return;
  complain(partition, error.message);
}

void Inbox::recovered(std::uint32_t partition) {
  State& state = states_[partition];
  if (state.complained.empty()) return;
  state.complained.clear();
  if (!options_.log) return;
  options_.log(
      {LogLevel::info, "inbox_goes_on", "inbox " + partition_key(partition, "in") + " goes on"});
}

void Inbox::complain(std::uint32_t partition, const std::string& why) {
  State& state = states_[partition];
  if (!options_.log || state.complained == why) return;
  state.complained = why;
  options_.log({LogLevel::warning, "inbox_waits",
                "inbox " + partition_key(partition, "in") + " waits: " + why});
}

void Inbox::tell_of(std::uint32_t partition, const InboxBatch& batch, std::int64_t set_aside) {
  if (set_aside == 0 || !options_.log) return;
  const InboxItem* last = nullptr;
  for (const InboxItem& item : batch.items) {
    if (!item.why.empty()) last = &item;
  }
  if (last == nullptr) return;
  options_.log({LogLevel::warning, "inbox_set_aside",
                "inbox " + partition_key(partition, "in") + ": set aside " +
                    std::to_string(set_aside) + " in " + partition_key(partition, "in:bad") +
                    "; the last is " + std::string(last->id) + ": " + last->why});
}

}  // namespace tarry::redis
