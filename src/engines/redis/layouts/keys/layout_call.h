// Calls of the layouts' scripts: one call, or several for a large batch, so that each call does
// bounded work.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <tarry/log.h>
#include <tarry/time.h>

#include "core/limits.h"
#include "engines/redis/layouts/keys/layout_names.h"
#include "engines/redis/node/server.h"
#include "engines/redis/verbs/item_verb.h"

namespace tarry::redis {

/// Objects that the verbs use. Outlives all verbs.
struct LayoutContext {
  Server& server;
  const LayoutSpec& spec;
  const LayoutNames& names;
  const core::Limits& limits;
  Log log;  // never empty
};

/// Calls the script with the arguments that layout_prelude.lua describes, and then its own.
void call_layout(const LayoutContext& context, const LayoutKeysPtr& keys, Script script,
                 Server::Build arguments, Server::Done done);

/// The error of a verb that only reads: `unavailable` instead of `unknown_outcome`, because a lost
/// answer leaves nothing in doubt.
[[nodiscard]] Error of_a_read(Error error);

/// The due time as scripts read it: "+250" is a delay.
[[nodiscard]] std::string due_text(Due due);

/// The error for times that the scripts call `far`.
[[nodiscard]] Error too_far_away(Due due);

/// The index of the set to which `member` is pushed: the member's CRC-32C modulo the number of
/// sets.
[[nodiscard]] std::size_t home_of(std::string_view member, const LayoutKeys& keys) noexcept;

/// A message's id, from the key that the scripts return: Redisson's id, otherwise a checksum of the
/// key. Never 0.
[[nodiscard]] std::uint64_t id_of(std::string_view key, Layout layout) noexcept;

/// A verb with many items. A script answers each item on its own.
class LayoutVerb {
 public:
  virtual ~LayoutVerb() = default;

  [[nodiscard]] virtual Script script() const = 0;
  /// True if a lost answer leaves something in doubt.
  [[nodiscard]] virtual bool changes() const { return true; }
  [[nodiscard]] virtual std::size_t bytes_of(std::uint32_t item) const = 0;
  /// Adds the arguments before those of the items. May be called twice, like `add`.
  virtual void begin(net::RedisCommand& /*command*/) const {}
  virtual void add(net::RedisCommand& command, std::uint32_t item) const = 0;
  /// False for a reply that no script of ours gives.
  [[nodiscard]] virtual bool read(net::RedisView reply, ItemSpan items) = 0;
  virtual void fail(std::uint32_t item, const Error& error) = 0;
};

/// Calls `begin` of `countdown`, and `end` when all items have their answers.
void run_layout_verb(const LayoutContext& context, const LayoutKeysPtr& keys,
                     const std::shared_ptr<LayoutVerb>& verb, const Items& items,
                     const std::shared_ptr<Countdown>& countdown);

}  // namespace tarry::redis
