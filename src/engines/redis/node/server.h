// Server: runs scripts and commands on Redis, and translates failures into tarry's errors.
//
// Scripts run by EVALSHA. If the server does not have the script (it was restarted, or a failover
// took place), nothing was done, and the same call is sent again with the script's text.
//
// Thread safety: none. Everything happens on the io_context's thread, callbacks included.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tarry/result.h>

#include "base/unique_function.h"
#include "engines/redis/node/node_replicas.h"
#include "engines/redis/node/replica_wait.h"
#include "engines/redis/node/scripts.h"
#include "engines/redis/node/store_clock.h"
#include "engines/redis/records/place.h"
#include "net/redis/redis.h"
#include "timing/clock.h"

namespace tarry::redis {

class Server {
 public:
  /// Runs once for each call, never within it. Errors besides the client's own: `no_space` if Redis
  /// is full; `conflict` for a queue that is gone or has other shards (nothing was done: look the
  /// queue up again); `damaged` for keys that are not ours; `permission_denied`; `unavailable`; and
  /// `io_error` for any error that none of our scripts should meet.
  using Done = base::UniqueFunction<void(Result<net::RedisReply>)>;
  /// Adds the words after the script: number of keys, keys, arguments. May be called twice.
  using Build = base::UniqueFunction<void(net::RedisCommand&)>;

  /// `test_clock`: if not null, used instead of the server's time.
  Server(net::Redis& redis, const timing::Clock* test_clock);

  /// The channels that scripts publish on, from the next `load_scripts` on.
  void publish_on(net::RedisChannels channels) noexcept { channels_ = channels; }

  /// Lua that is put before each script, from the next `load_scripts` on; for tests
  /// (redis_engine.h).
  void put_before_scripts(std::string lua) { before_scripts_ = std::move(lua); }

  /// Loads the scripts into the server, and learns their checksums: the native layout's scripts,
  /// or, if `layouts`, those of the other layouts.
  void load_scripts(base::UniqueFunction<void(Result<void>)> done, bool layouts = false);

  void run(Script script, Build build, Done done);
  /// Runs the script on a shard. The shard's keys, and the arguments that scripts/prelude.lua
  /// describes, come before those of `build`. `place` must live until `done` has run.
  void run_on(const Place& place, Script script, Build build, Done done);
  /// The same with the keys of all shards of the queue, as scripts/gate.lua describes. They must be
  /// on one node.
  void run_with_all(const QueuePlaces& queue, const Place& place, Script script, Build build,
                    Done done);
  /// The same as `run_on` in one MULTI, after the commands `before` on that shard's keys. If the
  /// script fails, it undoes `before`. The script is sent as text, so that it cannot be missing. If
  /// a command of `before` fails (e.g. because Redis is full), the error is `misuse`: nothing was
  /// done, and only the server knows why, so use another call. So it is if the script says that
  /// only another script can do this (`EXPIRES`).
  void run_after(const Place& place, std::vector<net::RedisCommand> before, Script script,
                 Build build, Done done);
  void command(net::RedisCommand command, Done done);
  /// An answer to `command_masters`, which sends the command to each master. Masters that cannot be
  /// reached are left out if another one answers. Otherwise the result is the first error, which
  /// names its server.
  struct FromMaster {
    std::string server;
    net::RedisReply reply;
  };
  using EachDone = base::UniqueFunction<void(Result<std::vector<FromMaster>>)>;
  void command_masters(net::RedisCommand command, EachDone done);

  /// From now on `confirm` waits for replicas.
  void wait_for(ReplicaWish wish) {
    wait_ = wish;
    replicas_.emplace(redis_, wish);
  }
  /// True if an answer must be held back until `confirm` says that replicas have the change.
  [[nodiscard]] bool waits() const noexcept { return replicas_.has_value(); }
  void confirm(const net::RedisOrigin& wrote, ReplicaWait::Done done) {
    replicas_->confirm(wrote, std::move(done));
  }

  /// Call `replicas_of_nodes` for a write that depends on a write on another node of the cluster.
  [[nodiscard]] NodeReplicas replicas_of_nodes() const { return {redis_, wait_}; }

  /// True if Redis has refused the user a command. A script may have stopped halfway, so call
  /// `check_rights` before any further script.
  [[nodiscard]] bool denied() const noexcept { return denied_; }
  void forget_denied() noexcept { denied_ = false; }

  /// The time for scripts' ARGV; empty except in tests.
  [[nodiscard]] std::string time_argument() const;
  [[nodiscard]] StoreClock& clock() noexcept { return clock_; }
  [[nodiscard]] std::string name() const { return redis_.server(); }
  /// Number of calls sent; calls sent together, as in a MULTI, count as one.
  [[nodiscard]] std::uint64_t round_trips() const noexcept { return round_trips_; }
  [[nodiscard]] std::uint64_t connections() const noexcept { return redis_.connections(); }

 private:
  [[nodiscard]] std::string text_of(Script script) const;
  void answer(net::RedisAnswer answer, std::string_view what, Done& done);
  void add_place(const Place& place, net::RedisCommand& command,
                 const QueuePlaces* all = nullptr) const;
  [[nodiscard]] Error error_of(const net::RedisReply& reply, std::string_view text,
                               std::string_view what);

  net::Redis& redis_;
  net::RedisChannels channels_ = net::RedisChannels::plain;
  const timing::Clock* test_clock_;
  StoreClock clock_;
  std::string before_scripts_;
  std::array<std::string, kScripts> shas_;
  ReplicaWish wait_;
  std::optional<ReplicaWait> replicas_;
  std::uint64_t round_trips_ = 0;
  bool denied_ = false;
};

/// Translates an error reply of Redis. `text` begins with the word for the error; `server` and
/// `what` (a script or a command) are named in the message.
[[nodiscard]] Error error_of_reply(const std::string& server, std::string_view text,
                                   std::string_view what);

/// True for the error of `run_on` that means: the queue has other shards than was thought, or none.
[[nodiscard]] bool is_moved(const Error& error) noexcept;

/// True for the error of a claim that means: the queue has limits, so its claims need
/// `run_with_all`. Nothing was done.
[[nodiscard]] bool needs_all_shards(const Error& error) noexcept;

/// True for the `no_space` error that means: the store has as many queues as it may have. Waiting
/// does not help.
[[nodiscard]] bool is_out_of_queues(const Error& error) noexcept;

/// The error for an answer of a script that cannot be read.
[[nodiscard]] Error strange_reply(const Server& server, Script script);

}  // namespace tarry::redis
