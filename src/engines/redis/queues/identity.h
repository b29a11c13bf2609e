// Identity: which store stands behind the connection. Asked again whenever the connection was made
// anew: Redis may have been restarted or failed over meanwhile, and have lost what it had
// confirmed, the store itself included. What was learned before that (queues, ids in hand, the
// secret) may then belong to others, so it is dropped before anything else goes out. And it may be
// another server, with other settings: those are looked at again, too.
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

  /// `store` is what was found when the connection was made for the first time. In a cluster, where
  /// the store's record is on one node and most of what is asked for on others, what is known holds
  /// while that node is away, or does not answer soon: then it is asked on beside what else goes
  /// on. Scripts refuse another store's generation anyhow. `alarms`: by the steady clock. `log`,
  /// which may be empty, is told when a server is unfit, and when none is any more.
  Identity(net::Redis& redis, Server& server, Directory& directory, Ids& ids, Alarms& alarms,
           const StoreFacts& store, ServerWish wish, Log log);

  /// May answer within the call: where it was asked on this connection already.
  void check(Done done);
  /// Somebody found what should be there to be gone: the next `check` asks again.
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
  std::chrono::steady_clock::time_point ask_again_;  // where it was away
  std::uint64_t checked_;                            // the connection on which it was asked last
  const ServerWish wish_;
  const bool goes_on_;  // in a cluster
  const Log log_;
  std::optional<Error> unfit_;
  bool asking_ = false;
  bool is_away_ = false;     // the node that has the record; only where it goes on
  Alarms::Id patience_ = 0;  // while those that ask wait
  std::vector<Done> waiting_;
};

}  // namespace tarry::redis
