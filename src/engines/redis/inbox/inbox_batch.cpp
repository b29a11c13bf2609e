#include "engines/redis/inbox/inbox_batch.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "core/rules/headers.h"
#include "core/shard_rule.h"
#include "engines/redis/records/body.h"
#include "engines/redis/records/if_exists_letter.h"
#include "engines/redis/records/member.h"
#include "engines/redis/verbs/parted.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

// Bytes of an entry besides the payload: headers with the names of their fields, key, queue and
// other fields.
constexpr std::uint64_t kRoomBeside = 64 * 1024;

void set_aside(InboxItem& item, std::string why) {
  item.answered = true;
  item.why = std::move(why);
}

// Brings the entries of one queue to their shards: finds the queue, takes ids for new messages, and
// calls the shards.
class QueueRun : public std::enable_shared_from_this<QueueRun> {
 public:
  QueueRun(Context& context, InboxBatchPtr batch, std::string queue, Items items,
           std::shared_ptr<Countdown> countdown)
      : context_(context),
        batch_(std::move(batch)),
        queue_(std::move(queue)),
        items_(std::move(items)),
        countdown_(std::move(countdown)),
        secret_(context.identity.secret()) {
    countdown_->begin();
  }

  void start() {
    auto found = [self = shared_from_this()](Result<QueuePtr> places) {
      if (!places) return self->fail(places.error(), self->items_);
      if (*places == nullptr) {  // there is nothing to cancel or reschedule
        for (const std::uint32_t i : self->items_) self->item(i).answered = true;
        return self->countdown_->end();
      }
      self->places_ = *std::move(places);
      self->shards_ = self->places_->open();
      self->number();
    };
    const bool pushes = std::ranges::any_of(
        items_, [this](std::uint32_t i) { return entry(i).verb == InboxVerb::push; });
    if (pushes) return context_.directory.make(queue_, std::move(found));
    context_.directory.find(queue_, std::move(found));
  }

 private:
  InboxItem& item(std::uint32_t i) { return batch_->items[i]; }
  const InboxEntry& entry(std::uint32_t i) { return item(i).entry; }

  // The entries stay where they are, and so do later ones of the same queue.
  void fail(const Error& error, const Items& items) {
    if (is_out_of_queues(error)) {
      for (const std::uint32_t i : items) set_aside(item(i), error.message);
    } else {
      hold(queue_, error);
    }
    countdown_->end();
  }

  void hold(const std::string& name, const Error& error) {
    held_ = true;
    if (is_moved(error) && places_ != nullptr && context_.directory.forget(places_)) {
      context_.identity.doubt();
    }
    batch_->held.insert(name);
    if (!batch_->failed || error.message < batch_->failed->message) batch_->failed = error;
  }

  // Usually only the shard is held. The whole queue is held if it has two sets of shards, because
  // the other set may have taken the entry, or if its shards are not known.
  void hold_at(const Place& place, const Error& error) {
    hold(is_moved(error) || places_->closed > 0 ? queue_ : place.name, error);
  }

  // If the message has no key, the entry's id stands for it, so that every process sends the entry
  // to the same shard.
  std::string_view name_of(std::uint32_t i) {
    return entry(i).key.empty() ? item(i).order : entry(i).key;
  }
  std::uint32_t shard_of(std::uint32_t i) {
    return core::shard_of(queue_, name_of(i), shards_, secret_);
  }
  std::uint32_t shard_of_made(std::uint64_t id) {
    const IdBytes bytes = id_bytes(id);
    std::string key;
    append_key(key, std::string_view(bytes.data(), bytes.size()), secret_);
    return core::shard_of(queue_, key, shards_, secret_);
  }

  // Each push gets an id. The hash of a generated key determines its shard. So for messages without
  // a key, ids are taken until there is one for each entry's shard.
  void number() {
    std::vector<std::deque<std::uint32_t>> wanted(shards_);
    std::deque<std::uint32_t> any;
    std::uint64_t count = 0;
    for (const std::uint32_t i : items_) {
      if (entry(i).verb != InboxVerb::push || item(i).message_id != 0) continue;
      ++count;
      if (shards_ == 1 || !entry(i).key.empty()) {
        any.push_back(i);
      } else {
        wanted[shard_of(i)].push_back(i);
      }
    }
    if (count == 0) return send();
    if (any.size() < count) count = std::max<std::uint64_t>(count, shards_);
    context_.ids.take(count, [self = shared_from_this(), count, any = std::move(any),
                              wanted = std::move(wanted)](Result<std::uint64_t> first) mutable {
      if (!first) return self->fail(first.error(), self->items_);
      for (std::uint64_t id = *first; id < *first + count; ++id) {
        auto& takers = any.empty() ? wanted[self->shard_of_made(id)] : any;
        if (takers.empty()) continue;
        self->item(takers.front()).message_id = id;
        takers.pop_front();
      }
      self->number();
    });
  }

  void send() {
    if (context_.identity.secret() != secret_) {
      return fail({ErrorCode::unavailable, "the store was made anew meanwhile"}, items_);
    }
    if (places_->closed == 0) {
      send_open(items_);
      return countdown_->end();
    }
    std::vector<Items> by_shard(places_->closed);
    for (const std::uint32_t i : items_) {
      by_shard[core::shard_of(queue_, name_of(i), places_->closed, secret_)].push_back(i);
    }
    const auto round =
        std::make_shared<Countdown>([self = shared_from_this()] { self->pass_on(); });
    for (std::uint32_t shard = 0; shard < by_shard.size(); ++shard) {
      if (!by_shard[shard].empty()) {
        send_to(places_->shards[shard], std::move(by_shard[shard]), round);
      }
    }
    round->end();
  }

  // Sends the open shards the entries whose keys the closed shards do not have. All closed shards
  // must have answered before, because each open shard gets all its entries in one call. In a
  // second call, older entries would be taken for repeats.
  void pass_on() {
    if (held_ || passed_on_.empty()) return countdown_->end();
    std::ranges::sort(passed_on_);
    std::vector<std::string> keys;
    for (const std::uint32_t i : passed_on_) {
      if (!entry(i).key.empty()) keys.emplace_back(entry(i).key);
    }
    settle_parted(context_, places_, std::move(keys),
                  [self = shared_from_this()](Result<std::vector<bool>> gone) {
                    if (!gone) return self->fail(gone.error(), self->passed_on_);
                    self->send_open(self->passed_on_);
                    self->countdown_->end();
                  });
  }

  void send_open(const Items& items) {
    std::vector<Items> by_shard(shards_);
    for (const std::uint32_t i : items) by_shard[shard_of(i)].push_back(i);
    for (std::uint32_t shard = 0; shard < shards_; ++shard) {
      const Place& place = places_->shards[places_->closed + shard];
      if (by_shard[shard].empty() || batch_->held.contains(place.name)) continue;
      send_to(place, std::move(by_shard[shard]), countdown_);
    }
  }

  void send_to(const Place& place, Items items, const std::shared_ptr<Countdown>& countdown) {
    countdown->begin();
    const auto shared = std::make_shared<Items>(std::move(items));
    context_.server.run_on(
        place, Script::inbox_take,
        [self = shared_from_this(), shared, &place](RedisCommand& command) {
          command.add("in:" + std::to_string(self->batch_->partition));
          command.add(place.closed ? "1" : "0");
          for (const std::uint32_t i : *shared) self->add(command, i);
        },
        [self = shared_from_this(), shared, countdown, &place](Result<RedisReply> reply) {
          self->answer(place, *shared, std::move(reply));
          countdown->end();
        });
  }

  void add(RedisCommand& command, std::uint32_t i) {
    const InboxItem& one = item(i);
    const InboxEntry& asked = one.entry;
    const char verb = static_cast<char>(asked.verb);
    command.add(one.order).add(one.mark).add(std::string_view(&verb, 1));
    std::string scratch;
    if (asked.verb == InboxVerb::push) return add_push(command, one);
    command.add(member_of(asked.key, secret_, scratch));
    if (asked.verb == InboxVerb::cancel) {
      command.add("").add("").add("");
      return;
    }
    command.add(asked.due_ms);
    command.add(asked.priority ? std::to_string(*asked.priority) : "").add("");
  }

  void add_push(RedisCommand& command, const InboxItem& one) {
    const InboxEntry& asked = one.entry;
    const IdBytes made = id_bytes(one.message_id);
    std::string scratch;
    const std::string_view member = asked.key.empty() ? std::string_view(made.data(), made.size())
                                                      : member_of(asked.key, secret_, scratch);
    Body body;
    body.id = asked.key.empty() ? 0 : one.message_id;
    body.priority = asked.priority.value_or(kDefaultPriority);
    body.max_attempts = static_cast<std::uint16_t>(asked.max_attempts);
    if (context_.identity.keeps_push_times()) body.pushed_ms = asked.sent_ms;
    body.headers = asked.headers;
    body.payload = asked.payload;
    std::string head;
    append_head(head, body, member);
    const char rule = asked.if_exists ? letter_of(*asked.if_exists) : 'd';
    command.add(member).add(asked.due_ms).add(head, asked.payload);
    command.add(std::string_view(&rule, 1));
  }

  void answer(const Place& place, const Items& items, Result<RedisReply> reply) {
    if (!reply) return hold_at(place, reply.error());
    const RedisView told = reply->view();
    for (std::size_t i = 0; i < items.size() && told.size() == items.size(); ++i) {
      const std::string_view text = told[i].text();
      InboxItem& one = item(items[i]);
      if (text == ">") {
        passed_on_.push_back(items[i]);
        continue;
      }
      one.answered = true;
      if (text.starts_with("old ")) {
        one.why = "its id is not newer than the last one that shard " + place.name +
                  " took from this inbox, " + spell_plainly(text.substr(4)) +
                  ", and it is not known whether it was carried out";
      } else if (!text.empty()) {
        one.why = text;
      }
    }
    if (told.size() != items.size()) {
      hold_at(place, strange_reply(context_.server, Script::inbox_take));
    }
  }

  // "00…017-00…05" is 17-5.
  static std::string spell_plainly(std::string_view order) {
    const auto id = read_stream_id(order);
    if (!id) return std::string(order);
    return std::to_string(id->ms) + "-" + std::to_string(id->number);
  }

  Context& context_;
  const InboxBatchPtr batch_;
  const std::string queue_;
  const Items items_;
  const std::shared_ptr<Countdown> countdown_;
  const std::uint64_t secret_;
  QueuePtr places_;
  std::uint32_t shards_ = 0;  // how many shards are open
  Items passed_on_;           // entries that closed shards have passed on
  bool held_ = false;         // some entries of the queue failed
};

}  // namespace

std::uint64_t longest_inbox_entry(const core::Limits& limits) noexcept {
  return limits.max_payload + kRoomBeside;
}

InboxBatchPtr read_inbox_batch(RedisReply reply, std::uint32_t partition,
                               const core::Limits& limits) {
  auto batch = std::make_shared<InboxBatch>(std::move(reply));
  batch->partition = partition;
  const RedisView told = batch->reply.view();
  if (told.size() < 3 || told.size() % 2 == 0) return nullptr;
  batch->is_others = !told[2].text().empty();
  const InboxTime time{told[0].integer(), told[1].integer()};
  for (std::size_t at = 3; at < told.size(); at += 2) {
    const auto id = read_stream_id(told[at].text());
    if (!id) return nullptr;
    InboxItem& item = batch->items.emplace_back();
    item.id = told[at].text();
    item.order = spell_in_order(*id);
    const RedisView fields = told[at + 1];
    if (fields.kind() != RedisView::Kind::array) {
      set_aside(item, "entry of " + std::to_string(fields.integer()) +
                          " bytes is over the limit of " +
                          std::to_string(longest_inbox_entry(limits)) +
                          " (payloads: " + std::to_string(limits.max_payload) + ")");
      continue;
    }
    item.mark = mark_of(item.id, fields);
    auto entry = read_inbox_entry(*id, fields, time, limits);
    if (entry) {
      item.entry = *std::move(entry);
    } else {
      set_aside(item, entry.error().message);
    }
  }
  return batch;
}

void take_inbox_batch(Context& context, const InboxBatchPtr& batch,
                      base::UniqueFunction<void()> done) {
  std::map<std::string_view, Items> by_queue;
  for (std::uint32_t i = 0; i < batch->items.size(); ++i) {
    const InboxItem& item = batch->items[i];
    if (item.answered || batch->held.contains(item.entry.queue)) continue;
    by_queue[item.entry.queue].push_back(i);
  }
  const auto countdown = std::make_shared<Countdown>(std::move(done));
  for (auto& [queue, items] : by_queue) {
    std::make_shared<QueueRun>(context, batch, std::string(queue), std::move(items), countdown)
        ->start();
  }
  countdown->end();
}

}  // namespace tarry::redis
