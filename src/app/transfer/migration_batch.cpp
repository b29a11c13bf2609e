#include "app/transfer/migration_batch.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

#include "app/transfer/move_requests.h"
#include "app/transfer/moved_message.h"
#include "app/transfer/queue_hold.h"
#include "base/text/text.h"
#include "open/handles/ask.h"

namespace tarry::app {
namespace {

constexpr std::size_t kMostProblems = 5;

}  // namespace

MigrationBatch::MigrationBatch(const MigrationEnd& from, const MigrationEnd& to,
                               MigratedQueue& counts, std::uint64_t moved_away_before)
    : from_(from), to_(to), counts_(counts), moved_away_before_(moved_away_before) {}

Error MigrationBatch::at(const MigrationEnd& end, const std::string& queue, Error error) {
  error.message = end.name + ", queue " + base::quoted(queue) + ": " + error.message;
  return error;
}

void MigrationBatch::problem(const std::string& key, const std::string& what) {
  if (counts_.problems.size() < kMostProblems) {
    counts_.problems.push_back("message " + base::quoted(key) + " stays: " + what);
  }
}

Result<void> MigrationBatch::move(const std::vector<std::string>& keys) {
  // Keys may occur twice, because a list may show a message twice: a member may be in two ZSETs, or
  // the queue is being resharded. The second one must not look like a message that has ended.
  Keys left = keys;
  std::ranges::sort(left);
  left.erase(std::ranges::unique(left).begin(), left.end());
  while (!left.empty()) {
    auto messages = read(from_, left);
    if (!messages) return std::move(messages).error();
    std::erase_if(*messages, [this](const MessageInfo& message) {
      // In a layout, a message has a reason only if a part of it is missing.
      const bool is_whole = counts_.pauses || message.reason.empty();
      if (!is_whole) problem(message.key, message.reason);
      return !is_whole || !can_move(message);
    });
    if (messages->empty()) continue;
    if (auto moved = move_messages(*std::move(messages)); !moved) return moved;
  }
  return {};
}

// Reads as many messages as fit into an answer. The other keys stay in `keys`.
Result<std::vector<MessageInfo>> MigrationBatch::read(const MigrationEnd& end, Keys& keys) {
  auto messages = get_messages(
      end.engine, counts_.queue, keys,
      [this](const std::string& key, const Error& error) { problem(key, error.message); });
  if (!messages) return at(end, counts_.queue, std::move(messages).error());
  return messages;
}

Result<void> MigrationBatch::move_messages(std::vector<MessageInfo> messages) {
  const auto there = put(std::move(messages));
  if (!there) return there.error();
  return take_away(*there);
}

// Puts the messages into the second store. Returns those that are there now, unchanged.
Result<std::vector<MessageInfo>> MigrationBatch::put(std::vector<MessageInfo> messages) {
  const auto put_items = put_there(to_.engine, counts_.queue, messages);
  if (!put_items) return at(to_, counts_.queue, put_items.error());
  const auto& items = *put_items;
  std::vector<MessageInfo> there;
  std::vector<MessageInfo> taken;
  std::optional<Error> fatal;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i].error) {
      if (concerns_one(*items[i].error)) {
        problem(messages[i].key, items[i].error->message);
      } else if (!fatal) {
        fatal = at(to_, counts_.queue, *items[i].error);
      }
    } else if (items[i].outcome == Outcome::pushed) {
      there.push_back(std::move(messages[i]));
    } else if (items[i].outcome == Outcome::exists) {
      taken.push_back(std::move(messages[i]));
    } else {
      ++counts_.conflicts;
      problem(messages[i].key,
              "the key is " + std::string(to_string(items[i].outcome)) + " in " + to_.name);
    }
  }
  if (!taken.empty()) {
    auto same = same_there(std::move(taken));
    if (!same) return std::move(same).error();
    counts_.found += same->size();
    std::move(same->begin(), same->end(), std::back_inserter(there));
  }
  if (fatal) {
    // The move is completed for the messages that were put there before the store failed.
    if (auto done = take_away(there); !done) return std::move(done).error();
    return *std::move(fatal);
  }
  return there;
}

// Of messages whose keys exist there, returns those whose own copies these are: an earlier run has
// put them there.
Result<std::vector<MessageInfo>> MigrationBatch::same_there(std::vector<MessageInfo> messages) {
  Keys keys;
  for (const MessageInfo& message : messages) keys.push_back(message.key);
  std::vector<MessageInfo> there;
  while (!keys.empty()) {
    auto some = read(to_, keys);
    if (!some) return std::move(some).error();
    std::move(some->begin(), some->end(), std::back_inserter(there));
  }
  std::vector<MessageInfo> found;
  for (MessageInfo& message : messages) {
    const auto other = std::ranges::find(there, message.key, &MessageInfo::key);
    if (other != there.end() && is_same(message, *other)) {
      found.push_back(std::move(message));
    } else {
      ++counts_.conflicts;
      problem(message.key, "the key belongs to another message in " + to_.name);
    }
  }
  return found;
}

Result<std::vector<core::ItemResult>> MigrationBatch::take_away_seen(
    const MigrationEnd& end, const std::vector<MessageInfo>& messages) {
  auto items = app::take_away_seen(end.engine, counts_.queue, messages);
  if (!items) return at(end, counts_.queue, std::move(items).error());
  return items;
}

Result<void> MigrationBatch::take_away(const std::vector<MessageInfo>& messages) {
  if (messages.empty()) return {};
  const auto items = take_away_seen(from_, messages);
  if (!items) return items.error();
  std::vector<MessageInfo> surplus;
  std::vector<MessageInfo> ended;
  std::optional<Error> fatal;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const core::ItemResult& item = (*items)[i];
    if (item.error && item.error->code == ErrorCode::too_large) {
      problem(messages[i].key, item.error->message);
      surplus.push_back(messages[i]);
    } else if (item.error) {
      if (!fatal) fatal = at(from_, counts_.queue, *item.error);
    } else if (item.outcome == Outcome::done) {
      ++counts_.moved;
      ++taken_;
      if (messages[i].state == State::dead) ++counts_.dead;
    } else {
      ++changed_;
      const bool is_here = item.outcome == Outcome::kept || item.outcome == Outcome::in_flight;
      (is_here ? surplus : ended).push_back(messages[i]);
    }
  }
  if (!ended.empty()) {
    if (const auto alone = check_alone()) {
      std::move(ended.begin(), ended.end(), std::back_inserter(surplus));
    } else if (!fatal) {
      fatal = alone.error();
    }
  }
  if (auto undone = undo(surplus); !undone && !fatal) fatal = std::move(undone).error();
  if (fatal) return *std::move(fatal);
  return {};
}

// Fails if others move messages out of this queue. Only then it is certain that a message which is
// missing here was cancelled; otherwise another run may have moved it, and its copy must stay.
Result<void> MigrationBatch::check_alone() {
  const auto stats = stats_of(from_.engine, counts_.queue);
  if (!stats) return at(from_, counts_.queue, stats.error());
  if (stats->counters.moved_away == moved_away_before_ + taken_) return {};
  return at(from_, counts_.queue,
            {ErrorCode::conflict,
             "another program moves its messages too, or a request of this run was carried out "
             "twice; let only one program move them, and run it again"});
}

// Removes the copies that were put there, except copies that somebody has changed since.
Result<void> MigrationBatch::undo(const std::vector<MessageInfo>& messages) {
  Keys keys;
  for (const MessageInfo& message : messages) keys.push_back(message.key);
  while (!keys.empty()) {
    auto there = read(to_, keys);
    if (!there) return std::move(there).error();
    std::erase_if(*there, [&](const MessageInfo& other) {
      return !is_same(*std::ranges::find(messages, other.key, &MessageInfo::key), other);
    });
    if (there->empty()) continue;
    const auto items = take_away_seen(to_, *there);
    if (!items) return items.error();
    for (std::size_t i = 0; i < items->size(); ++i) {
      const auto& error = (*items)[i].error;
      if (!error) continue;
      if (error->code != ErrorCode::too_large) return at(to_, counts_.queue, *error);
      leaves_copies_ = true;
      ++counts_.conflicts;
      problem((*there)[i].key, "its copy in " + to_.name + " cannot be removed: " + error->message);
    }
  }
  return {};
}

}  // namespace tarry::app
