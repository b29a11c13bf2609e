#include "app/transfer/move_requests.h"

#include <iterator>
#include <optional>
#include <utility>
#include <variant>

#include "app/transfer/moved_message.h"
#include "open/handles/ask.h"

namespace tarry::app {
namespace {

using Messages = std::span<const MessageInfo>;

template <typename Item>
struct Halves {
  std::vector<Item> items;
  std::optional<Error> ended;  // set: later items are not sent
  bool answered = false;       // whether at least one request was answered

  void fail(std::size_t count, const Error& error) {
    for (; count > 0; --count) items.emplace_back().error = error;
  }

  // `ask` sends messages, and returns one item for each.
  template <typename Ask>
  void put(Messages messages, const Ask& ask) {
    if (ended) return fail(messages.size(), *ended);
    Result<std::vector<Item>> some = ask(messages);
    if (some) {
      answered = true;
      std::move(some->begin(), some->end(), std::back_inserter(items));
    } else if (some.error().code != ErrorCode::too_large) {
      ended = std::move(some).error();
      fail(messages.size(), *ended);
    } else if (messages.size() < 2) {
      answered = true;
      fail(messages.size(), some.error());
    } else {
      const std::size_t half = messages.size() / 2;
      put(messages.first(half), ask);
      put(messages.subspan(half), ask);
    }
  }
};

// Results of the first requests are kept: a later error concerns only the items after them.
template <typename Item, typename Ask>
Result<std::vector<Item>> in_halves(Messages messages, const Ask& ask) {
  Halves<Item> halves;
  halves.put(messages, ask);
  if (halves.ended && !halves.answered) return *std::move(halves.ended);
  return std::move(halves.items);
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
  const bool is_layout = !engine.capabilities().pauses;
  const auto ask = [&](Messages some) -> Result<std::vector<core::ItemResult>> {
    core::CancelRequest request;
    request.queue = queue;
    for (const MessageInfo& message : some) {
      request.keys.push_back(core::append(request.bytes, message.key));
      request.seen.push_back({message.id, message.due.time_since_epoch().count(), message.priority,
                              message.tallies.claims, message.state == State::dead});
      if (is_layout) request.seen.back().payload = core::append(request.bytes, message.payload);
    }
    auto reply = detail::wait_for(engine, std::move(request));
    if (!reply) return std::move(reply).error();
    return std::move(std::get<core::ItemsReply>(*reply).items);
  };
  return in_halves<core::ItemResult>(messages, ask);
}

}  // namespace tarry::app
