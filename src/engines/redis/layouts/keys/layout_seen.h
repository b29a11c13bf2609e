// The form in which the entries and values of a Redisson queue are written, as far as it is known:
// from the queue's keys, and from a key of tarry's own, `<leases>seen`, because the queue's keys
// are sometimes empty.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <map>
#include <string>

#include "base/unique_function.h"
#include "engines/redis/layouts/keys/layout_call.h"
#include "engines/redis/layouts/redisson/redisson_value.h"

namespace tarry::redis {

/// Reads all these keys. Writes tarry's key if the queue's keys show more.
void look_at_seen(const LayoutContext& context, const LayoutKeysPtr& keys,
                  base::UniqueFunction<void(Result<Seen>)> done);

/// The same for a value that was seen elsewhere. Calls `done` when tarry's key is written, or
/// cannot be written.
void remember_seen(const LayoutContext& context, const LayoutKeysPtr& keys, const Seen& seen,
                   base::UniqueFunction<void(const Seen&)> done);

/// Remembers the forms that claims see, and writes them to tarry's key if they are new.
class SeenMemory {
 public:
  explicit SeenMemory(const LayoutContext& context) : context_(context) {}

  /// Calls `done` when the key is written, or cannot be written; within this call if nothing is
  /// new.
  void saw(const LayoutKeysPtr& keys, const Seen& seen, base::UniqueFunction<void()> done);

 private:
  const LayoutContext& context_;
  std::map<std::string, Seen> known_;  // by queue
};

}  // namespace tarry::redis
