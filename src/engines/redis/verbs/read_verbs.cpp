// Get and list.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/text/base64.h"
#include "base/text/text.h"
#include "core/rules/validation.h"
#include "core/settings/queue_limits.h"
#include "engines/redis/records/describe.h"
#include "engines/redis/records/dotted_parts.h"
#include "engines/redis/records/member.h"
#include "engines/redis/records/told_time.h"
#include "engines/redis/verbs/parted.h"
#include "engines/redis/verbs/verbs.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

class GetVerb final : public ItemVerb {
 public:
  GetVerb(Context& context, AskedPtr asked, const core::GetRequest& request, std::uint64_t limit)
      : context_(context), asked_(std::move(asked)), request_(request), limit_(limit) {}

  Script script() const override { return Script::get; }
  bool changes() const override { return false; }
  std::string_view key_of(std::uint32_t item) const override {
    return core::view(request_.bytes, request_.keys[item]);
  }
  bool is_absent(std::uint32_t item) const override {
    const auto& found = reply().items[item];
    return !found && found.error().code == ErrorCode::not_found;
  }
  std::size_t bytes_of(std::uint32_t item) const override { return 48 + key_of(item).size(); }

  void build(RedisCommand& command, ItemSpan items) override {
    command.add(request_.with_payload ? "1" : "0").add(static_cast<std::int64_t>(limit_));
    for (const std::uint32_t item : items) {
      command.add(member_of(key_of(item), context_.identity.secret(), scratch_));
    }
  }

  bool read(const Place& place, RedisView given, ItemSpan items) override {
    if (given.size() != items.size() + 2) return false;
    const std::int64_t now = told_time(given[0]);
    const RedisView paused = given[1];
    for (std::size_t i = 0; i < items.size(); ++i) {
      const RedisView told = given[i + 2];
      if (told.is_nil()) continue;
      if (told.size() == 2) {  // there was no room for it in the script's answer
        fail(items[i], no_room(items[i], static_cast<std::uint64_t>(told[1].integer())));
        continue;
      }
      auto found =
          read_message(told, place, context_.identity.secret(), now, request_.with_payload);
      if (!found) return false;
      if (found->is_damaged) {
        fail(items[i],
             {ErrorCode::damaged, "message " + base::quoted(key_of(items[i])) + " of queue " +
                                      request_.queue + " cannot be read: " + found->info.reason});
      } else {
        found->info.paused = !paused.is_nil();
        if (!paused.is_nil() && !paused.text().empty()) {
          found->info.paused_until = Time(Millis(told_time(paused)));
        }
        take(items[i], std::move(found->info));
      }
    }
    return true;
  }
  void fail(std::uint32_t item, const Error& error) override { reply().items[item] = error; }
  void absent(std::uint32_t item) override { fail(item, no_such_queue(request_.queue)); }

 private:
  [[nodiscard]] core::GetReply& reply() const { return std::get<core::GetReply>(asked_->reply); }
  [[nodiscard]] Error no_room(std::uint32_t item, std::uint64_t bytes) const {
    return {ErrorCode::too_large,
            "message " + base::quoted(key_of(item)) + " of " + std::to_string(bytes) +
                " bytes does not fit into the rest of an answer, whose limit is " +
                std::to_string(limit_) + " bytes; get it again with fewer keys"};
  }
  void take(std::uint32_t item, MessageInfo info) {
    const std::uint64_t bytes = redis::bytes_of(info);
    core::GetReply& whole = reply();
    if (whole.bytes > 0 && (bytes > limit_ || whole.bytes > limit_ - bytes)) {
      fail(item, no_room(item, bytes));
      return;
    }
    whole.bytes += bytes;
    whole.items[item] = std::move(info);
  }

  Context& context_;
  AskedPtr asked_;
  const core::GetRequest& request_;
  std::uint64_t limit_;
  std::string scratch_;
};

// Where a list continues; as text "shard.generation.place.score.member", all but the numbers in
// Base64. For a list of everything, `place` is kScanned, `score` is HSCAN's cursor, and `member` is
// the server that gave it. A later shard may have the same number, with other messages, but never
// the same generation.
struct Cursor {
  std::uint32_t shard = 0;
  std::string generation;
  std::int64_t place = 0;
  std::string score;
  std::string member;
};

constexpr std::int64_t kScanned = 9;  // no place has this number

std::string spell(const Cursor& cursor) {
  return std::to_string(cursor.shard) + "." + base::base64url_encode(cursor.generation) + "." +
         std::to_string(cursor.place) + "." + base::base64url_encode(cursor.score) + "." +
         base::base64url_encode(cursor.member);
}

std::optional<Cursor> read_cursor(std::string_view text) {
  const auto parts = dotted_parts<5>(text);
  if (!parts) return std::nullopt;
  const auto shard = base::parse_u64((*parts)[0], "shard", 0, UINT16_MAX);
  auto generation = base::base64url_decode((*parts)[1]);
  const auto place = base::parse_u64((*parts)[2], "place", 0, kScanned);
  const auto score = base::base64url_decode((*parts)[3]);
  const auto member = base::base64url_decode((*parts)[4]);
  if (!shard || !generation || !place || !score || !member) return std::nullopt;
  double value = 0;  // the script gets the score, so it must be a number
  const char* end = score->data() + score->size();
  const auto number = std::from_chars(score->data(), end, value);
  if (!score->empty() && (number.ec != std::errc() || number.ptr != end || !std::isfinite(value))) {
    return std::nullopt;
  }
  if (*place == kScanned && !base::parse_u64(*score, "cursor", 0, UINT64_MAX)) return std::nullopt;
  return Cursor{static_cast<std::uint32_t>(*shard), *std::move(generation),
                static_cast<std::int64_t>(*place), *score, *member};
}

std::string_view letter_of(const std::optional<State>& state) noexcept {
  if (!state) return "";
  switch (*state) {
    case State::scheduled: return "s";
    case State::ready: return "y";
    case State::leased: return "l";
    case State::dead: return "d";
    case State::remembered: return "r";
  }
  return "";
}

// Lists page by page, one shard after the other, until the list is full.
class Lister : public std::enable_shared_from_this<Lister> {
 public:
  Lister(Context& context, AskedPtr asked, std::uint64_t limit)
      : context_(context),
        asked_(std::move(asked)),
        request_(std::get<core::ListRequest>(asked_->request)),
        limit_(limit) {}

  void start() {
    if (!request_.after.empty()) {
      auto cursor = read_cursor(request_.after);
      if (!cursor || (cursor->place == kScanned) != request_.whole) {
        return asked_->fail({ErrorCode::invalid_argument, "after " + base::quoted(request_.after) +
                                                              " is not the `next` of a list"});
      }
      cursor_ = std::move(*cursor);
      fresh_ = false;
    }
    find();
  }

 private:
  void find() {
    context_.directory.find(request_.queue, [self = shared_from_this()](Result<QueuePtr> queue) {
      if (!queue) return self->asked_->fail(std::move(queue).error());
      if (*queue == nullptr) return self->asked_->complete();
      self->queue_ = std::move(*queue);
      self->settled_ = self->queue_->closed == 0;
      self->begin();
    });
  }

  // Begins at the cursor's shard. If that shard is gone, the list begins again; then a message may
  // be listed twice, but none is hidden.
  void begin() {
    const Place* place = fresh_ ? nullptr : queue_->find(cursor_.shard);
    if (place == nullptr || place->generation != cursor_.generation) {
      place = &queue_->shards.front();
      fresh_ = true;
    }
    if (fresh_) cursor_ = start_of(*place);
    fresh_ = false;
    at_ = static_cast<std::size_t>(place - queue_->shards.data());
    look();
  }

  [[nodiscard]] Cursor start_of(const Place& place) const {
    return {place.shard, place.generation, request_.whole ? kScanned : 0, request_.whole ? "0" : "",
            ""};
  }

  // Looks at the next messages. If a prefix is asked for, a page may need many looks.
  void look() {
    auto& reply = std::get<core::ListReply>(asked_->reply);
    if (at_ == queue_->shards.size()) return asked_->complete();
    if (reply.messages.size() >= request_.limit || reply.bytes >= limit_) {
      reply.next = spell(cursor_);
      return asked_->complete();
    }
    const std::size_t missing = request_.limit - reply.messages.size();
    const std::size_t at_once = request_.prefix.empty() ? std::min<std::size_t>(missing, 200) : 200;
    if (!settled_ && at_ >= queue_->closed) return settle();
    const Place& place = queue_->shards[at_];
    context_.server.run_on(
        place, script(),
        [self = shared_from_this(), at_once](RedisCommand& command) {
          self->add_cursor(command);
          command.add(static_cast<std::int64_t>(at_once));
        },
        [self = shared_from_this(), &place](Result<RedisReply> given) {
          if (!given) return self->failed(std::move(given).error());
          const bool taken = self->request_.whole ? self->take_scan(place, given->view())
                                                  : self->take(place, given->view());
          if (!taken) self->asked_->fail(strange_reply(self->context_.server, self->script()));
        });
  }

  [[nodiscard]] Script script() const { return request_.whole ? Script::scan : Script::list; }

  void add_cursor(RedisCommand& command) const {
    if (request_.whole) {
      command.add(cursor_.member).add(cursor_.score);
    } else {
      command.add(letter_of(request_.state)).add(cursor_.place).add(cursor_.score);
      command.add(cursor_.member);
    }
  }

  // No shard lists messages on their way between shards, so they are settled first.
  void settle() {
    settled_ = true;
    settle_held(context_, queue_, [self = shared_from_this()](Result<void> settled) {
      if (!settled) return self->failed(std::move(settled).error());
      self->look();
    });
  }

  void failed(Error error) {
    if (is_moved(error) && ++tries_ < 5) {
      return doubt(context_, queue_, [self = shared_from_this()](Result<void> checked) {
        if (!checked) return self->asked_->fail(std::move(checked).error());
        self->find();
      });
    }
    if (error.code == ErrorCode::unknown_outcome) error.code = ErrorCode::unavailable;
    asked_->fail(std::move(error));
  }

  // If a look finds more messages than fit, the list continues after the last one that did.
  bool take(const Place& place, RedisView given) {
    if (given.size() < 4) return false;
    const std::int64_t now = told_time(given[0]);
    auto& reply = std::get<core::ListReply>(asked_->reply);
    for (std::size_t i = 4; i < given.size(); ++i) {
      auto told = read_message(given[i], place, context_.identity.secret(), now, false);
      if (!told) return false;
      if (!told->info.key.starts_with(request_.prefix)) continue;
      if (reply.messages.size() == request_.limit) {
        cursor_ = last_;
        reply.next = spell(cursor_);
        asked_->complete();
        return true;
      }
      last_ = {cursor_.shard, cursor_.generation, given[i][7].integer(),
               std::string(given[i][8].text()), std::string(given[i][9].text())};
      add(std::move(told->info));
    }
    go_on(given[1].integer() < 0, {cursor_.shard, cursor_.generation, given[1].integer(),
                                   std::string(given[2].text()), std::string(given[3].text())});
    return true;
  }

  // A list cannot continue in the middle of a look, so all messages of the look are listed.
  bool take_scan(const Place& place, RedisView given) {
    if (given.size() < 3) return false;
    const std::int64_t now = told_time(given[0]);
    for (std::size_t i = 3; i < given.size(); ++i) {
      auto told = read_message(given[i], place, context_.identity.secret(), now, false);
      if (!told) return false;
      if (!told->info.key.starts_with(request_.prefix)) continue;
      if (request_.state && told->info.state != *request_.state) continue;
      add(std::move(told->info));
    }
    go_on(given[2].text() == "0", {cursor_.shard, cursor_.generation, kScanned,
                                   std::string(given[2].text()), std::string(given[1].text())});
    return true;
  }

  void add(MessageInfo info) {  // of a damaged message, `info` has the known facts
    auto& reply = std::get<core::ListReply>(asked_->reply);
    reply.bytes += redis::bytes_of(info);
    reply.messages.push_back(std::move(info));
  }

  void go_on(bool shard_ends, Cursor next) {
    cursor_ = std::move(next);
    if (shard_ends && ++at_ < queue_->shards.size()) cursor_ = start_of(queue_->shards[at_]);
    look();
  }

  Context& context_;
  AskedPtr asked_;
  const core::ListRequest& request_;
  std::uint64_t limit_;
  QueuePtr queue_;
  std::size_t at_ = 0;  // index of the cursor's shard in the queue
  bool settled_ = true;
  bool fresh_ = true;  // the cursor says nothing yet
  Cursor cursor_;
  Cursor last_;
  int tries_ = 0;
};

}  // namespace

void get(Context& context, const AskedPtr& asked, const core::Limits& limits) {
  const auto& request = std::get<core::GetRequest>(asked->request);
  if (request.with_history) {
    return asked->fail(core::no_history("redis", "asked for one"));
  }
  core::GetReply reply;
  Items good;
  for (std::uint32_t i = 0; i < request.keys.size(); ++i) {
    const std::string_view key = core::view(request.bytes, request.keys[i]);
    if (auto error = core::check_key(key)) {
      reply.items.emplace_back(std::move(*error));
    } else {
      good.push_back(i);
      reply.items.emplace_back(
          Error{ErrorCode::not_found,
                "there is no message " + base::quoted(key) + " in queue " + request.queue});
    }
  }
  asked->reply = std::move(reply);
  auto countdown = std::make_shared<Countdown>([asked] { asked->complete(); });
  if (!good.empty()) {
    run_items(context, std::make_shared<GetVerb>(context, asked, request, limits.max_reply),
              request.queue, std::move(good), countdown);
  }
  countdown->end();
}

void list(Context& context, const AskedPtr& asked, const core::Limits& limits) {
  asked->reply = core::ListReply();
  std::make_shared<Lister>(context, asked, limits.max_reply)->start();
}

}  // namespace tarry::redis
