#include "app/move_requests.h"

#include <iterator>
#include <utility>
#include <variant>

#include "app/moved_message.h"
#include "open/ask.h"

namespace tarry::app {
namespace {

using Messages = std::span<const MessageInfo>;

template <typename Item>
std::vector<Item> all_failed(std::size_t count, const Error& error) {
  std::vector<Item> items(count);
  for (Item& item : items) item.error = error;
  return items;
}

// `ask` takes messages and answers an item for each.
template <typename Item, typename Ask>
Result<std::vector<Item>> in_halves(Messages messages, const Ask& ask) {
  Result<std::vector<Item>> items = ask(messages);
  if (items || items.error().code != ErrorCode::too_large) return items;
  if (messages.size() < 2) return all_failed<Item>(messages.size(), items.error());
  const std::size_t half = messages.size() / 2;
  items = in_halves<Item>(messages.first(half), ask);
  if (!items) return items;
  auto rest = in_halves<Item>(messages.subspan(half), ask);
  // What was done with the first half is done: so the error is that of the others alone.
  if (!rest) rest = all_failed<Item>(messages.size() - half, rest.error());
  items->insert(items->end(), std::make_move_iterator(rest->begin()),
                std::make_move_iterator(rest->end()));
  return items;
}

}  // namespace

Result<std::vector<core::PushResult>> put_there(core::Engine& engine, const std::string& queue,
                                                Messages messages) {
  const auto ask = [&](Messages some) -> Result<std::vector<core::PushResult>> {
    core::MoveRequest request;
    request.queue = queue;
    for (const MessageInfo& message : some) {
      auto item = move_item_of(message, request.bytes);
      if (!item) return std::move(item).error();
      request.items.push_back(*std::move(item));
    }
    auto reply = detail::wait_for(engine, std::move(request));
    if (!reply) return std::move(reply).error();
    return std::move(std::get<core::PushReply>(*reply).items);
  };
  return in_halves<core::PushResult>(messages, ask);
}

Result<std::vector<core::ItemResult>> take_away_seen(core::Engine& engine, const std::string& queue,
                                                     Messages messages) {
  const auto ask = [&](Messages some) -> Result<std::vector<core::ItemResult>> {
    core::CancelRequest request;
    request.queue = queue;
    for (const MessageInfo& message : some) {
      request.keys.push_back(core::append(request.bytes, message.key));
      request.seen.push_back({message.id, message.due.time_since_epoch().count(), message.priority,
                              message.tallies.claims, message.state == State::dead});
    }
    auto reply = detail::wait_for(engine, std::move(request));
    if (!reply) return std::move(reply).error();
    return std::move(std::get<core::ItemsReply>(*reply).items);
  };
  return in_halves<core::ItemResult>(messages, ask);
}

}  // namespace tarry::app
