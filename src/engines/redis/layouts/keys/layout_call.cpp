#include "engines/redis/layouts/keys/layout_call.h"

#include <charconv>
#include <utility>

#include "base/crc32c.h"
#include "base/hash.h"

namespace tarry::redis {
namespace {

using net::RedisCommand;

// Most items in one call. Other clients of the server wait for the call.
constexpr std::size_t kMostInACall = 500;
// To remove an entry, Redis walks through Redisson's LIST. So a call removes few.
constexpr std::size_t kMostWalksInACall = 100;

constexpr std::size_t kMostBytesInACall = 8u << 20;

void send_items(const LayoutContext& context, const LayoutKeysPtr& keys,
                const std::shared_ptr<LayoutVerb>& verb, Items some,
                const std::shared_ptr<Countdown>& countdown) {
  countdown->begin();
  const auto items = std::make_shared<Items>(std::move(some));
  call_layout(
      context, keys, verb->script(),
      [verb, items](RedisCommand& command) {
        verb->begin(command);
        for (const std::uint32_t item : *items) verb->add(command, item);
      },
      [&context, verb, items, countdown](Result<net::RedisReply> reply) {
        if (!reply || !verb->read(reply->view(), *items)) {
          Error error =
              reply ? strange_reply(context.server, verb->script()) : std::move(reply).error();
          if (error.code == ErrorCode::unknown_outcome && !verb->changes()) {
            error.code = ErrorCode::unavailable;
          }
          for (const std::uint32_t item : *items) verb->fail(item, error);
        }
        countdown->end();
      });
}

}  // namespace

void call_layout(const LayoutContext& context, const LayoutKeysPtr& keys, Script script,
                 Server::Build arguments, Server::Done done) {
  context.server.run(
      script,
      [&context, keys, arguments = std::move(arguments)](RedisCommand& command) mutable {
        const std::size_t count = keys->zsets.size() + 1 + keys->bodies.size();
        command.add(static_cast<std::int64_t>(count));
        for (const std::string& zset : keys->zsets) command.key(zset);
        command.key(keys->aside);
        for (const std::string& bodies : keys->bodies) command.key(bodies);
        command.add(to_string(context.spec.layout)).add(context.server.time_argument());
        command.add(keys->leases).add(context.spec.seconds ? "1000" : "1");
        command.add(static_cast<std::int64_t>(keys->zsets.size())).add(keys->channel);
        arguments(command);
      },
      std::move(done));
}

Error of_a_read(Error error) {
  if (error.code == ErrorCode::unknown_outcome) error.code = ErrorCode::unavailable;
  return error;
}

std::string due_text(Due due) {
  return (due.is_relative() ? "+" : "") + std::to_string(due.millis());
}

Error too_far_away(Due due) {
  return {ErrorCode::invalid_argument,
          "due time " + std::to_string(due.millis()) + " ms is more than 100 years from now"};
}

std::size_t home_of(std::string_view member, const LayoutKeys& keys) noexcept {
  return base::crc32c(member) % keys.zsets.size();
}

std::uint64_t id_of(std::string_view key, Layout layout) noexcept {
  std::uint64_t id = 0;
  if (layout == Layout::redisson && key.size() == 16) {
    (void)std::from_chars(key.data(), key.data() + key.size(), id, 16);
  }
  if (id == 0) id = base::keyed_hash(key, 0);
  return id == 0 ? 1 : id;
}

void run_layout_verb(const LayoutContext& context, const LayoutKeysPtr& keys,
                     const std::shared_ptr<LayoutVerb>& verb, const Items& items,
                     const std::shared_ptr<Countdown>& countdown) {
  Items some;
  std::size_t bytes = 0;
  const std::size_t most =
      context.spec.layout == Layout::redisson ? kMostWalksInACall : kMostInACall;
  for (const std::uint32_t item : items) {
    const std::size_t more = verb->bytes_of(item);
    if (!some.empty() && (some.size() == most || bytes + more > kMostBytesInACall)) {
      send_items(context, keys, verb, std::exchange(some, {}), countdown);
      bytes = 0;
    }
    some.push_back(item);
    bytes += more;
  }
  if (!some.empty()) send_items(context, keys, verb, std::move(some), countdown);
}

}  // namespace tarry::redis
