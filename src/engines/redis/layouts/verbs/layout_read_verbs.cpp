// List, stats and purge.
#include <algorithm>
#include <utility>

#include "base/text/base64.h"
#include "base/text/text.h"
#include "core/engine_parts/partly_done.h"
#include "core/rules/validation.h"
#include "engines/redis/layouts/keys/layout_info.h"
#include "engines/redis/layouts/verbs/layout_verbs.h"
#include "engines/redis/records/describe.h"
#include "engines/redis/records/dotted_parts.h"
#include "engines/redis/verbs/forecast_spans.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;
using net::RedisReply;
using net::RedisView;

constexpr std::int64_t kMostListedAtOnce = 200;
constexpr std::uint64_t kMostTies = 1'000'000'000;

// Where a list continues; as text "set.ties.score.key", the last two in Base64.
struct ListPlace {
  std::size_t set = 0;
  std::int64_t ties = 0;
  std::string score;
  std::string key;
};

std::string spell_place(const ListPlace& place) {
  return std::to_string(place.set) + "." + std::to_string(place.ties) + "." +
         base::base64url_encode(place.score) + "." + base::base64url_encode(place.key);
}

bool is_score(std::string_view text) noexcept {
  return text.size() < 32 && text.find_first_not_of("0123456789.-+einf") == std::string_view::npos;
}

std::optional<ListPlace> read_place(std::string_view text) {
  const auto parts = dotted_parts<4>(text);
  if (!parts) return std::nullopt;
  const auto set = base::parse_u64((*parts)[0], "set", 0, kMaxLayoutKeys);
  const auto ties = base::parse_u64((*parts)[1], "ties", 0, kMostTies);
  const auto score = base::base64url_decode((*parts)[2]);
  const auto key = base::base64url_decode((*parts)[3]);
  if (!set || !ties || !score || !key || !is_score(*score)) return std::nullopt;
  return ListPlace{static_cast<std::size_t>(*set), static_cast<std::int64_t>(*ties), *score, *key};
}

class LayoutLister : public std::enable_shared_from_this<LayoutLister> {
 public:
  LayoutLister(const LayoutContext& context, LayoutKeysPtr keys, AskedPtr asked, ListPlace place)
      : context_(context),
        keys_(std::move(keys)),
        asked_(std::move(asked)),
        request_(std::get<core::ListRequest>(asked_->request)),
        place_(std::move(place)) {}

  // If a prefix or a state is asked for, a page may need many looks.
  void look() {
    if (place_.set > keys_->zsets.size()) return asked_->complete();
    if (reply().messages.size() >= request_.limit || reply().bytes >= context_.limits.max_reply) {
      reply().next = spell_place(place_);
      return asked_->complete();
    }
    const auto missing = static_cast<std::int64_t>(request_.limit - reply().messages.size());
    const bool all = request_.prefix.empty() && !request_.state;
    const std::int64_t most = all ? std::min(missing, kMostListedAtOnce) : kMostListedAtOnce;
    call_layout(
        context_, keys_, Script::layout_list,
        [self = shared_from_this(), most](RedisCommand& command) {
          const ListPlace& from = self->place_;
          command.add(static_cast<std::int64_t>(from.set + 1)).add(from.score).add(from.key);
          command.add(from.ties).add(most);
        },
        [self = shared_from_this()](Result<RedisReply> told) {
          if (told) return self->take(told->view());
          self->asked_->fail(of_a_read(std::move(told).error()));
        });
  }

 private:
  core::ListReply& reply() { return std::get<core::ListReply>(asked_->reply); }

  void take(RedisView told) {
    constexpr std::size_t kTold = 8;
    if (told.size() == 0 || (told.size() - 1) % kTold != 0) {
      return asked_->fail(strange_reply(context_.server, Script::layout_list));
    }
    for (std::size_t at = 1; at < told.size(); at += kTold) {
      if (reply().messages.size() >= request_.limit) return look();
      place_ = ListPlace{place_.set, told[at + 6].integer(), std::string(told[at + 5].text()),
                         std::string(told[at].text())};
      MessageInfo info =
          layout_info(context_.spec, *keys_, told[at].text(), told[at + 1].text(),
                      told[at + 2].text(), told[at + 3].text(), told[at + 4].integer());
      if (!told[at + 7].text().empty())
        info.reason = stray_reason(context_.spec.layout, info.state);
      if (!info.key.starts_with(request_.prefix)) continue;
      if (request_.state && info.state != *request_.state) continue;
      reply().bytes += redis::bytes_of(info);
      reply().messages.push_back(std::move(info));
    }
    if (told[0].integer() == 0) place_ = ListPlace{place_.set + 1, 0, "", ""};
    look();
  }

  const LayoutContext& context_;
  const LayoutKeysPtr keys_;
  const AskedPtr asked_;
  const core::ListRequest& request_;
  ListPlace place_;
};

class LayoutPurge : public std::enable_shared_from_this<LayoutPurge> {
 public:
  LayoutPurge(const LayoutContext& context, LayoutKeysPtr keys, AskedPtr asked)
      : context_(context), keys_(std::move(keys)), asked_(std::move(asked)) {}

  void slice() {
    const bool redisson = context_.spec.layout == Layout::redisson;
    if (set_ >= keys_->zsets.size() + (redisson ? 1 : 0)) return asked_->complete();
    call_layout(
        context_, keys_, Script::layout_purge,
        [self = shared_from_this()](RedisCommand& command) {
          command.add(static_cast<std::int64_t>(self->set_ + 1)).add(self->from_);
        },
        [self = shared_from_this()](Result<RedisReply> told) {
          auto& reply = std::get<core::CountReply>(self->asked_->reply);
          if (!told) return self->fail(reply.count, std::move(told).error());
          reply.count += static_cast<std::uint64_t>(told->view()[0].integer());
          self->from_ = told->view()[1].integer();
          if (self->from_ < 0) {
            self->from_ = 0;
            ++self->set_;
          }
          self->slice();
        });
  }

 private:
  const LayoutContext& context_;
  const LayoutKeysPtr keys_;
  const AskedPtr asked_;
  std::size_t set_ = 0;
  std::int64_t from_ = 0;

  void fail(std::uint64_t purged, Error error) {
    if (purged == 0) return asked_->fail(std::move(error));
    const std::string& queue = std::get<core::PurgeRequest>(asked_->request).queue;
    asked_->fail(core::partly_done("purge", queue, core::messages_so_far(purged), error));
  }
};

// A forecast for one queue, page by page.
class LayoutForecast : public std::enable_shared_from_this<LayoutForecast> {
 public:
  LayoutForecast(const LayoutContext& context, LayoutKeysPtr keys, AskedPtr asked)
      : context_(context),
        keys_(std::move(keys)),
        asked_(std::move(asked)),
        spans_(std::get<core::ForecastRequest>(asked_->request)) {}

  void look() {
    call_layout(
        context_, keys_, Script::layout_forecast,
        [self = shared_from_this()](RedisCommand& command) {
          const auto sets = static_cast<std::int64_t>(self->keys_->zsets.size());
          self->spans_.ask(0, kMostCounts / sets + 1, command);
        },
        [self = shared_from_this()](Result<RedisReply> told) {
          if (told) return self->take(told->view());
          self->asked_->fail(of_a_read(std::move(told).error()));
        });
  }

 private:
  static constexpr std::int64_t kMostCounts = 500;  // spans with messages in one answer

  void take(RedisView told) {
    bool again = false;
    if (!spans_.read(0, told, again)) {
      return asked_->fail(strange_reply(context_.server, Script::layout_forecast));
    }
    if (again) return look();
    asked_->reply = std::move(spans_.reply());
    asked_->complete();
  }

  const LayoutContext& context_;
  const LayoutKeysPtr keys_;
  const AskedPtr asked_;
  ForecastSpans spans_;
};

void take_stats(QueueStats& queue, RedisView told) {
  const auto number = [&](std::size_t at) {
    return static_cast<std::uint64_t>(told[at].integer());
  };
  queue.ready = number(2);
  queue.scheduled = number(1) - number(2);
  queue.dead = number(3);
  if (!told[4].text().empty()) queue.oldest_ready = Time(Millis(told[4].integer()));
  queue.counters.moved_away = number(5);
}

}  // namespace

void layout_list(const LayoutContext& context, const AskedPtr& asked) {
  const auto& request = std::get<core::ListRequest>(asked->request);
  auto keys = context.names.keys_of(request.queue);
  if (!keys) return asked->fail(std::move(keys).error());
  ListPlace place;
  if (!request.after.empty()) {
    auto read = read_place(request.after);
    if (!read) {
      return asked->fail({ErrorCode::invalid_argument,
                          "after " + base::quoted(request.after) + " is not the `next` of a list"});
    }
    place = *std::move(read);
  }
  asked->reply = core::ListReply();
  std::make_shared<LayoutLister>(context, *std::move(keys), asked, std::move(place))->look();
}

void layout_purge(const LayoutContext& context, const AskedPtr& asked) {
  auto keys = context.names.keys_of(std::get<core::PurgeRequest>(asked->request).queue);
  if (!keys) return asked->fail(std::move(keys).error());
  asked->reply = core::CountReply();
  std::make_shared<LayoutPurge>(context, *std::move(keys), asked)->slice();
}

void layout_stats(const LayoutContext& context, std::vector<std::string> queues,
                  const AskedPtr& asked) {
  StoreStats stats;
  stats.engine = "redis " + std::string(to_string(context.spec.layout));
  asked->reply = std::move(stats);
  const auto failed = std::make_shared<std::optional<Error>>();
  const auto countdown = std::make_shared<Countdown>([asked, failed] {
    if (*failed) return asked->fail(**failed);
    asked->complete();
  });
  auto& reply = std::get<StoreStats>(asked->reply);
  for (const std::string& name : queues) {
    auto keys = context.names.keys_of(name);
    if (!keys) {
      *failed = std::move(keys).error();
      break;
    }
    const std::size_t at = reply.queues.size();
    QueueStats& queue = reply.queues.emplace_back();
    queue.queue = name;
    queue.shards = static_cast<std::uint32_t>((*keys)->zsets.size());
    countdown->begin();
    call_layout(
        context, *keys, Script::layout_stats, [](RedisCommand&) {},
        [asked, failed, countdown, at](Result<RedisReply> told) {
          if (told) {
            take_stats(std::get<StoreStats>(asked->reply).queues[at], told->view());
          } else {
            *failed = of_a_read(std::move(told).error());
          }
          countdown->end();
        });
  }
  countdown->end();
}

void layout_forecast(const LayoutContext& context, const AskedPtr& asked) {
  auto keys = context.names.keys_of(std::get<core::ForecastRequest>(asked->request).queue);
  if (!keys) return asked->fail(std::move(keys).error());
  std::make_shared<LayoutForecast>(context, *std::move(keys), asked)->look();
}

}  // namespace tarry::redis
