// Identity: which store is behind the connection. It is checked again whenever the connection was
// made again. Redis may have been restarted or failed over meanwhile, and may have lost confirmed
// changes, even the store itself. Facts learned before that (queues, reserved ids, the secret) may
// then belong to others, so they are dropped before any other request is sent. It may also be
// another server with other settings, so those are checked again too.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include <tarry/log.h>
#include <tarry/result.h>

#include "base/unique_function.h"
#include "engines/redis/node/alarms.h"
#include "engines/redis/node/ids.h"
#include "engines/redis/node/server.h"
#include "engines/redis/node/start_up.h"
#include "engines/redis/queues/directory.h"
#include "net/redis/redis.h"

namespace tarry::redis {

class Identity {
 public:
  using Done = base::UniqueFunction<void(Result<void>)>;

  /// `store` is the store that was found on the first connection. In a cluster the store's record
  /// is on one node, and most requests go to others. If that node is unreachable or does not answer
  /// soon, the known facts still count, and the check goes on in the background. Scripts refuse
  /// another store's generation in any case. `alarms`: by the steady clock. `log`, which may be
  /// empty, is called when a server is unfit, and when none is any more.
  Identity(net::Redis& redis, Server& server, Directory& directory, Ids& ids, Alarms& alarms,
           const StoreFacts& store, ServerWish wish, Log log);

  /// May answer within the call, if this connection was checked already.
  void check(Done done);
  /// A caller found that a thing which should exist is gone: the next `check` asks again.
  void doubt() noexcept { checked_ = 0; }
  /// Why no message is safe there (check_server): looked at with each `check` until it is mended.
  [[nodiscard]] const std::optional<Error>& unfit() const noexcept { return unfit_; }
  [[nodiscard]] std::uint64_t secret() const noexcept { return secret_; }
  [[nodiscard]] std::int64_t schema() const noexcept { return schema_; }
  [[nodiscard]] bool keeps_push_times() const noexcept { return schema_ >= kPushTimeSchema; }

 private:
  [[nodiscard]] bool is_known() const;
  void ask();
  void look_at_servers();
  void judge(const Result<ServerFacts>& facts);
  void look_at_rights();
  void open();
  void asked(Result<void> result, bool is_away = false);
  void answer(Result<void> result);

  net::Redis& redis_;
  Server& server_;
  Directory& directory_;
  Ids& ids_;
  Alarms& alarms_;
  std::uint64_t secret_;
  std::int64_t schema_;
  std::uint32_t partitions_;
  std::chrono::steady_clock::time_point ask_again_;  // if it was unreachable
  std::uint64_t checked_;                            // the connection on which it was asked last
  const ServerWish wish_;
  const bool goes_on_;  // in a cluster
  const Log log_;
  std::optional<Error> unfit_;
  bool asking_ = false;
  bool is_away_ =
      false;  // the node that has the record; set only if the check goes on in the background
  Alarms::Id patience_ = 0;  // while requests wait for it
  std::vector<Done> waiting_;
};

}  // namespace tarry::redis
