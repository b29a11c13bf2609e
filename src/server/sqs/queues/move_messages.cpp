#include "server/sqs/queues/move_messages.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "core/limits.h"
#include "core/rules/headers.h"
#include "server/sqs/queues/fifo.h"
#include "server/sqs/queues/message_text.h"

namespace tarry::sqs {
namespace {

constexpr std::uint32_t kPage = 100;
// A list has no order. So the move looks at many messages of a FIFO queue to find the oldest ones.
constexpr std::uint32_t kPageInOrder = core::kMaxListLimit;

struct Mover {
  CallPtr call;
  Moving moving;
  Moved next;
  std::size_t moved = 0;
};
using MoverPtr = std::shared_ptr<Mover>;

Step next_page(const MoverPtr& mover);

void set_header(Headers& headers, std::string_view name, const std::string& value) {
  std::erase_if(headers, [&](const Header& one) { return one.name == name; });
  if (!value.empty()) headers.push_back({std::string(name), value});
}

std::string target_of(const Mover& mover, const MessageInfo& info) {
  if (!mover.moving.to.empty()) return mover.moving.to;
  const auto found = std::ranges::find(info.headers, kSourceHeader, &Header::name);
  return found == info.headers.end() ? std::string() : found->value;
}

/// The item for one message. Nothing: its headers would be too large.
std::optional<core::MoveItem> item_of(const Mover& mover, const MessageInfo& info,
                                      std::string& bytes) {
  Headers headers = info.headers;
  const bool is_named = std::ranges::find(headers, kIdHeader, &Header::name) != headers.end();
  if (!is_named) set_header(headers, kIdHeader, message_id(info.id));
  const bool died = mover.moving.state == State::dead;
  set_header(headers, kSourceHeader, died ? mover.moving.from : std::string());
  auto encoded = core::encode_headers(headers);
  if (!encoded) encoded = core::encode_headers(info.headers);
  if (!encoded) return std::nullopt;
  core::MoveItem item;
  item.push.key = core::append(bytes, mover.moving.from + ":" + std::to_string(info.id));
  item.push.payload = core::append(bytes, info.payload);
  item.push.headers = core::append(bytes, *encoded);
  item.push.priority = info.priority;
  // AWS counts receives across all queues, but a redriven message is a new one.
  if (died) item.tallies.claims = info.tallies.claims;
  if (info.pushed) item.pushed_ms = info.pushed->time_since_epoch().count();
  return item;
}

Step delete_moved(const MoverPtr& mover, core::CancelRequest cancel) {
  if (cancel.keys.empty()) return mover->next(mover->moved, false);
  return ask_for<core::ItemsReply>(std::move(cancel),
                                   [mover](const core::ItemsReply& reply) -> Step {
                                     std::size_t done = 0;
                                     for (const auto& item : reply.items) {
                                       if (!item.error && item.outcome == Outcome::done) ++done;
                                     }
                                     mover->moved += done;
                                     if (done == 0) return mover->next(mover->moved, false);
                                     return next_page(mover);
                                   });
}

Step push_page(const MoverPtr& mover, const core::GetReply& reply) {
  core::MoveRequest move;
  core::CancelRequest cancel;
  cancel.queue = mover->moving.from;
  for (const Result<MessageInfo>& info : reply.items) {
    if (!info || info->state != mover->moving.state) continue;
    std::string target = target_of(*mover, *info);
    // A request has one queue: messages for another one are left for the next page.
    if (move.queue.empty()) move.queue = target;
    if (target.empty() || target != move.queue) continue;
    auto item = item_of(*mover, *info, move.bytes);
    if (!item) continue;
    move.items.push_back(*std::move(item));
    cancel.keys.push_back(core::append(cancel.bytes, info->key));
    cancel.seen.push_back({info->id,
                           info->due.time_since_epoch().count(),
                           info->priority,
                           info->tallies.claims,
                           info->state == State::dead,
                           {}});
  }
  if (move.items.empty()) return mover->next(mover->moved, false);
  return ask_for<core::PushReply>(
      std::move(move),
      [mover, cancel = std::move(cancel)](const core::PushReply& pushed) mutable -> Step {
        core::CancelRequest sure;
        sure.queue = cancel.queue;
        sure.bytes = std::move(cancel.bytes);
        for (std::size_t i = 0; i < pushed.items.size() && i < cancel.keys.size(); ++i) {
          if (pushed.items[i].error) continue;
          sure.keys.push_back(cancel.keys[i]);
          sure.seen.push_back(cancel.seen[i]);
        }
        return delete_moved(mover, std::move(sure));
      });
}

Step next_page(const MoverPtr& mover) {
  if (mover->moved >= mover->moving.most) return mover->next(mover->moved, false);
  core::ListRequest list;
  list.queue = mover->moving.from;
  list.state = mover->moving.state;
  list.limit = has_fifo_name(list.queue) ? kPageInOrder : kPage;
  return ask_for<core::ListReply>(std::move(list), [mover](core::ListReply& page) -> Step {
    if (page.messages.empty()) return mover->next(mover->moved, true);
    std::ranges::sort(page.messages, {}, &MessageInfo::id);
    if (page.messages.size() > kPage) page.messages.resize(kPage);
    core::GetRequest get;
    get.queue = mover->moving.from;
    for (const MessageInfo& info : page.messages) {
      get.keys.push_back(core::append(get.bytes, info.key));
    }
    return ask_for<core::GetReply>(std::move(get), [mover](const core::GetReply& reply) -> Step {
      return push_page(mover, reply);
    });
  });
}

}  // namespace

Step move_messages(const CallPtr& call, Moving moving, Moved next) {
  const core::Capabilities& can = call->service.capabilities;
  if (!can.moves || !can.moves_away || !can.dead) return next(0, false);
  return next_page(std::make_shared<Mover>(Mover{call, std::move(moving), std::move(next)}));
}

}  // namespace tarry::sqs
