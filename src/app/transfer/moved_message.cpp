#include "app/transfer/moved_message.h"

#include <cstddef>
#include <iterator>
#include <utility>
#include <variant>

#include "core/engine_parts/carried.h"
#include "core/rules/headers.h"
#include "open/handles/ask.h"

namespace tarry::app {

bool can_move(const MessageInfo& message) noexcept {
  return message.state == State::scheduled || message.state == State::ready ||
         message.state == State::dead;
}

bool concerns_one(const Error& error) noexcept {
  return error.code == ErrorCode::too_large || error.code == ErrorCode::invalid_argument ||
         error.code == ErrorCode::damaged;
}

bool is_same(const MessageInfo& a, const MessageInfo& b) {
  return can_move(b) && (a.state == State::dead) == (b.state == State::dead) && a.due == b.due &&
         a.priority == b.priority && a.attempt == b.attempt && a.max_attempts == b.max_attempts &&
         a.expire == b.expire && a.expire_at == b.expire_at &&
         core::carried(a.tallies) == core::carried(b.tallies) && a.reason == b.reason &&
         a.headers == b.headers && a.payload == b.payload;
}

Result<core::MoveItem> move_item_of(const MessageInfo& message, std::string& bytes) {
  const auto headers = core::encode_headers(message.headers);
  if (!headers) return headers.error();
  core::MoveItem item;
  item.push.key = core::append(bytes, message.key);
  item.push.payload = core::append(bytes, message.payload);
  item.push.headers = core::append(bytes, *headers);
  item.push.due = tarry::at(message.due);
  item.push.priority = message.priority;
  item.push.max_attempts = message.max_attempts;
  item.push.expire = message.expire;
  item.push.expire_at = message.expire_at;
  item.push.if_exists = IfExists::reject;  // an existing message is examined, never overwritten
  item.attempt = message.attempt;
  item.tallies = message.tallies;
  item.dead = message.state == State::dead;
  if (message.pushed) item.pushed_ms = message.pushed->time_since_epoch().count();
  if (item.dead) item.reason = core::append(bytes, message.reason);
  return item;
}

Result<std::vector<MessageInfo>> get_messages(
    core::Engine& engine, const std::string& queue, std::vector<std::string>& keys,
    const std::function<void(const std::string& key, const Error& error)>& damaged) {
  core::GetRequest request;
  request.queue = queue;
  for (const std::string& key : keys) request.keys.push_back(core::append(request.bytes, key));
  auto reply = detail::wait_for(engine, std::move(request));
  if (!reply && reply.error().code == ErrorCode::too_large && keys.size() == 1) {
    damaged(keys[0], reply.error());
    keys.clear();
    return std::vector<MessageInfo>();
  }
  if (!reply && reply.error().code == ErrorCode::too_large && keys.size() > 1) {
    // The request with this many keys may exceed the server's limit for bodies. Ask for half of
    // them.
    std::vector<std::string> rest(keys.begin() + static_cast<std::ptrdiff_t>(keys.size() / 2),
                                  keys.end());
    keys.resize(keys.size() - rest.size());
    auto some = get_messages(engine, queue, keys, damaged);
    keys.insert(keys.end(), std::make_move_iterator(rest.begin()),
                std::make_move_iterator(rest.end()));
    return some;
  }
  if (!reply) return std::move(reply).error();
  std::vector<MessageInfo> messages;
  std::vector<std::string> too_many;
  auto& items = std::get<core::GetReply>(*reply).items;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i]) {
      messages.push_back(*std::move(items[i]));
    } else if (items[i].error().code == ErrorCode::too_large) {
      too_many.push_back(std::move(keys[i]));
    } else if (items[i].error().code == ErrorCode::damaged ||
               items[i].error().code == ErrorCode::unsupported) {  // a layout's member is no key
      damaged(keys[i], items[i].error());
    } else if (items[i].error().code != ErrorCode::not_found) {
      return std::move(items[i]).error();
    }
  }
  keys = std::move(too_many);
  return messages;
}

namespace {

Error is_older(std::string_view name) {
  return {ErrorCode::unsupported, std::string(name) +
                                      ": the server is older than this program and cannot move "
                                      "messages; update it, or stop it and name its own store"};
}

}  // namespace

std::optional<Error> refuse_moves_from(const core::Engine& engine, std::string_view name) {
  const core::Capabilities can = engine.capabilities();
  if (can.moves_away) return std::nullopt;
  if (!can.by_key) {
    return Error{ErrorCode::unsupported,
                 std::string(name) + ": messages cannot be moved out of " + can.keeper() +
                     ": it finds none by its key; claim them, or relay them to the other store's "
                     "server"};
  }
  return is_older(name);
}

std::optional<Error> refuse_moves_to(const core::Engine& engine, std::string_view name) {
  const core::Capabilities can = engine.capabilities();
  if (can.moves) return std::nullopt;
  if (!can.by_key) {
    return Error{ErrorCode::unsupported, std::string(name) + ": messages cannot be moved into " +
                                             can.keeper() + "; push instead"};
  }
  if (!can.headers) {
    return Error{ErrorCode::unsupported,
                 std::string(name) + ": nothing can be moved into " + can.keeper() +
                     ": a layout's keys hold neither headers nor attempts; push instead"};
  }
  return is_older(name);
}

}  // namespace tarry::app
