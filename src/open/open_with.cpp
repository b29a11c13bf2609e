#include "open/open_with.h"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>

#include "core/engine_parts/closable_engine.h"
#include "open/handles/store_state.h"
#include "open/store_tools.h"
#include "timing/manual_clock.h"

namespace tarry::detail {
namespace {

using Engine = std::unique_ptr<core::Engine>;

Store store_of(Engine engine, Executor executor, std::optional<ManualClock> clock) {
  return Store(
      std::make_shared<StoreState>(std::move(engine), std::move(executor), std::move(clock)));
}

using Spreads = core::ClosableEngine::Spreads;

// The clock of a store behind a network is about this machine's.
core::SpreadTime now() {
  return {std::chrono::floor<Millis>(std::chrono::system_clock::now()).time_since_epoch().count(),
          std::chrono::floor<Millis>(std::chrono::steady_clock::now()).time_since_epoch().count()};
}

Engine closable(Engine engine, Spreads spreads = Spreads::here) {
  return std::make_unique<core::ClosableEngine>(std::move(engine), spreads, now);
}

Result<Store> open_embedded(EmbeddedUrl url, OpenOptions options) {
  if (!url.path.empty()) {
    auto there = tools::require_store(url.path);
    if (!there && !options.create) return std::move(there).error();
    if (!there && there.error().code == ErrorCode::not_found) {
      if (auto good = tools::check_new_place(url.path); !good) return std::move(good).error();
    }
  }
  std::optional<ManualClock> clock = std::move(options.clock);
  if (!clock && url.manual_clock) clock.emplace();

  embedded::EmbeddedOptions wanted;
  wanted.path = std::move(url.path);
  wanted.sync = url.sync.value_or(wanted.sync);
  wanted.shards = url.shards.value_or(wanted.shards);
  wanted.segment_bytes = url.segment_bytes.value_or(wanted.segment_bytes);
  wanted.memory_bytes = url.memory_bytes.value_or(wanted.memory_bytes);
  wanted.limits.max_payload = url.max_payload.value_or(wanted.limits.max_payload);
  if (clock) wanted.clock = clock->implementation();
  wanted.holder = std::move(options.holder);
  wanted.progress = std::move(options.progress);
  wanted.log = std::move(options.log);

  auto engine = embedded::open_embedded(std::move(wanted));
  if (!engine) return std::move(engine).error();
  return store_of(*std::move(engine), std::move(options.executor), std::move(clock));
}

Result<Store> open_http(const RemoteUrl& url, OpenOptions options, const Openers& openers) {
  if (options.clock) {
    return Unexpected(ErrorCode::invalid_argument,
                      "a clock cannot be given for a server's URL: the server has its own");
  }
  auto engine = openers.remote(url);
  if (!engine) return std::move(engine).error();
  return store_of(closable(*std::move(engine), Spreads::inside), std::move(options.executor), {});
}

Result<Store> open_redis(const RedisUrl& url, OpenOptions options, const Openers& openers) {
  auto engine = openers.redis(url, options);
  if (!engine) return std::move(engine).error();
  return store_of(closable(*std::move(engine)), std::move(options.executor),
                  std::move(options.clock));
}

Result<Store> open_rabbitmq(const RabbitUrl& url, OpenOptions options, const Openers& openers) {
  if (options.clock) {
    return Unexpected(ErrorCode::invalid_argument, "a clock cannot be given for " + url.scheme +
                                                       ":, whose delays are the broker's");
  }
  auto engine = openers.rabbitmq(url, options);
  if (!engine) return std::move(engine).error();
  return store_of(closable(*std::move(engine)), std::move(options.executor), {});
}

Result<Store> open_url(std::string_view url, OpenOptions options, const Openers* openers) {
  Result<StoreUrl> parsed = parse_store_url(url);
  if (!parsed) return std::move(parsed).error();
  if (auto* embedded = std::get_if<EmbeddedUrl>(&*parsed)) {
    return open_embedded(std::move(*embedded), std::move(options));
  }
  if (openers == nullptr) {
    return Unexpected(ErrorCode::unsupported,
                      std::string(url.substr(0, url.find(':'))) +
                          ": is not built into this library, which has memory: and file:; link "
                          "tarry::tarry for it");
  }
  if (const auto* remote = std::get_if<RemoteUrl>(&*parsed)) {
    return open_http(*remote, std::move(options), *openers);
  }
  if (const auto* rabbit = std::get_if<RabbitUrl>(&*parsed)) {
    return open_rabbitmq(*rabbit, std::move(options), *openers);
  }
  return open_redis(std::get<RedisUrl>(*parsed), std::move(options), *openers);
}

}  // namespace

Result<Store> open_with(std::string_view url, OpenOptions options, const Openers* openers) {
  try {
    return open_url(url, std::move(options), openers);
  } catch (const std::runtime_error& refused) {
    // Catches exceptions of the standard library and of Asio. Everything that had been started has
    // been stopped by now.
    return Unexpected(
        ErrorCode::unavailable,
        std::string("cannot get a thread or a file descriptor from the system: ") + refused.what());
  }
}

}  // namespace tarry::detail
