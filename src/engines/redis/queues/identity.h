// Identity: which store is behind the connection. That is checked again after each new connection.
// Redis may have been restarted or failed over meanwhile, and may have lost confirmed changes, even
// the store itself. Facts learned before that (queues, reserved ids, the secret) may then belong to
// others, so they are dropped before any other request is sent. The new connection may also lead to
// another server with other settings, so the settings are checked again too.
//
// Thread safety: none; on the io_context's thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
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
  /// soon, the known facts still count, and the check goes on in the background. In any case, the
  /// scripts refuse a request that carries another store's generation (docs/formats/redis.md).
  /// `alarms`: by the steady clock. `log`, which may be empty, is called when a server is unfit,
  /// and when no server is unfit any more.
  Identity(net::Redis& redis, Server& server, Directory& directory, Ids& ids, Alarms& alarms,
           const StoreFacts& store, ServerWish wish, Log log);

  /// `done` may run before this returns, if the connection was checked already.
  void check(Done done);
  /// Call `doubt` when something is gone that should exist. The next `check` then asks again.
  void doubt() noexcept { checked_ = 0; }
  /// Why messages are not safe on a server (check_server); empty if they are safe. Until that is
  /// repaired, each `check` asks again.
  [[nodiscard]] const std::optional<Error>& unfit() const noexcept { return unfit_; }
  [[nodiscard]] std::uint64_t secret() const noexcept { return secret_; }
  [[nodiscard]] std::int64_t schema() const noexcept { return schema_; }
  [[nodiscard]] bool keeps_push_times() const noexcept { return schema_ >= kPushTimeSchema; }
  /// `unsupported` if the store's schema is too old for an expiry.
  [[nodiscard]] std::optional<Error> refuse_expiry() const;
  /// The same for limits of queues.
  [[nodiscard]] std::optional<Error> refuse_limits() const;

 private:
  [[nodiscard]] bool is_known() const;
  [[nodiscard]] std::optional<Error> refuse_below(std::int64_t schema, std::string_view what) const;
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
  // When to ask again if the node was unreachable.
  std::chrono::steady_clock::time_point ask_again_;
  std::uint64_t checked_;  // the connection on which the store was asked last
  const ServerWish wish_;
  const bool goes_on_;  // true in a cluster: the known facts still count
  const Log log_;
  std::optional<Error> unfit_;
  bool asking_ = false;
  // True if the node that has the record does not answer, and the check goes on in the background.
  bool is_away_ = false;
  Alarms::Id patience_ = 0;  // while requests wait for the check
  std::vector<Done> waiting_;
};

}  // namespace tarry::redis
