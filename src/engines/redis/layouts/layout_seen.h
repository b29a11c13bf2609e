// What is known of how a Redisson queue is written: from its keys, and, as these are empty now and
// then, from a key of tarry's own, `<leases>seen`, that outlives them.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <map>
#include <string>

#include "base/unique_function.h"
#include "engines/redis/layouts/layout_call.h"
#include "engines/redis/layouts/redisson_value.h"

namespace tarry::redis {

/// Remembers what it finds, if that is news.
void look_at_seen(const LayoutContext& context, const LayoutKeysPtr& keys,
                  base::UniqueFunction<void(Result<Seen>)> done);

/// The same for what was seen elsewhere. Done when it is written, or cannot be.
void remember_seen(const LayoutContext& context, const LayoutKeysPtr& keys, const Seen& seen,
                   base::UniqueFunction<void(const Seen&)> done);

/// What claims see, written where it is news.
class SeenMemory {
 public:
  explicit SeenMemory(const LayoutContext& context) : context_(context) {}

  /// Done when it is written, or cannot be; within the call where it is no news.
  void saw(const LayoutKeysPtr& keys, const Seen& seen, base::UniqueFunction<void()> done);

 private:
  const LayoutContext& context_;
  std::map<std::string, Seen> known_;  // by queue
};

}  // namespace tarry::redis
