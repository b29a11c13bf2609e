// Commands: carries out a client's commands, step by step (step.h).
//
// Thread safety: none; the server's thread owns it.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/reply.h"
#include "core/request.h"
#include "server/beanstalk/client.h"
#include "server/beanstalk/command.h"
#include "server/beanstalk/step.h"
#include "server/beanstalk/tubes.h"
#include "server/identity/identity.h"

namespace tarry::beanstalk {

/// How the front sees time.
struct Clocks {
  std::function<std::int64_t()> elapsed_ms;  // by which leases end
  std::function<std::int64_t()> wall_ms;     // by which messages are due
};

/// Host: the services of a connection that its commands use.
class Host {
 public:
  Host() = default;
  Host(const Host&) = delete;
  Host& operator=(const Host&) = delete;
  virtual ~Host() = default;

  /// The next command that the client has sent already, if it fits; it is then part of the batch
  /// in progress.
  [[nodiscard]] virtual std::optional<Command> another(
      const std::function<bool(const Command&)>& fits) = 0;
  [[nodiscard]] virtual const identity::Identity& identity() const noexcept = 0;
  /// Whether all replies so far are on their way, so that a claim may wait.
  [[nodiscard]] virtual bool may_wait() const noexcept = 0;
  /// Whether the server accepts no jobs, because it stops.
  [[nodiscard]] virtual bool is_draining() const noexcept = 0;
  virtual void claimed(const core::ClaimReply& reply) = 0;
};

class Commands {
 public:
  Commands(const Clocks& clocks, std::uint64_t max_job, Shared& shared, Client& client, Host& host)
      : clocks_(clocks), max_job_(max_job), shared_(shared), client_(client), host_(host) {}

  /// `command` has no fault, and is none of the connection's own (auth, quit).
  [[nodiscard]] Next run(const Command& command);
  /// Whether a command of the last batch waits until the replies before it have been sent.
  [[nodiscard]] bool has_more() const noexcept { return !reserves_.empty(); }
  [[nodiscard]] std::size_t pending() const noexcept { return reserves_.size(); }
  [[nodiscard]] Next run_more() { return claim(); }
  /// The claim in progress was refused: its commands are dropped. Returns how many those are.
  std::size_t drop_claim() noexcept;

 private:
  struct Reserve {
    std::int32_t timeout_s = -1;
    std::optional<std::int64_t> until_ms = {};
  };
  struct Place {
    std::string tube;
    std::string key;
    MessageInfo info;
  };
  using Found = base::UniqueFunction<Next(std::optional<Place>)>;
  using Listed = base::UniqueFunction<Next(std::vector<MessageInfo>)>;
  using Before = bool (*)(const MessageInfo&, const MessageInfo&);
  struct Search;
  struct Scan;
  struct Settling;

  [[nodiscard]] bool may(identity::Scope scope, std::string_view tube) const noexcept {
    return host_.identity().may(scope, tube);
  }

  // put_commands.cpp
  [[nodiscard]] Next put(const Command& command);
  void add_put(core::PushRequest& request, const Command& command);
  [[nodiscard]] Next push(core::PushRequest request);
  [[nodiscard]] Next put_key(const Command& command);
  [[nodiscard]] Next cancel_key(const Command& command);
  [[nodiscard]] Next reschedule_key(const Command& command);

  // reserve_commands.cpp
  [[nodiscard]] Next reserve(const Command& command);
  [[nodiscard]] Next claim();
  [[nodiscard]] Millis wait_of(Reserve& first);
  [[nodiscard]] Next claimed(core::ClaimReply& reply, Millis lease, bool was_delayed);
  [[nodiscard]] Next nothing_claimed();
  [[nodiscard]] Next reserve_job(const Command& command);

  // settle_commands.cpp
  [[nodiscard]] Next settle(const Command& command);
  [[nodiscard]] Next settled(std::shared_ptr<Settling> settling, Result<core::Reply>& result);
  [[nodiscard]] Next erase_rest(std::shared_ptr<Settling> settling);
  [[nodiscard]] Next touch(const Command& command);

  // job_commands.cpp
  [[nodiscard]] Next locate(std::uint64_t job, bool with_payload, identity::Scope scope,
                            Found found);
  [[nodiscard]] Next look(std::shared_ptr<Search> search);
  void add_candidates(Search& search) const;
  [[nodiscard]] Next peek(const Command& command);
  [[nodiscard]] Next erase(std::uint64_t job);
  [[nodiscard]] Next erase(const Place& place);
  [[nodiscard]] Next kick_job(const Command& command);
  [[nodiscard]] Next stats_job(const Command& command);

  // tube_commands.cpp
  [[nodiscard]] Next scan(std::string_view tube, State state, Before before, std::size_t most,
                          Listed listed);
  [[nodiscard]] Next look(std::shared_ptr<Scan> scan);
  [[nodiscard]] Next peek_first(State state, Before before);
  [[nodiscard]] Next kick(const Command& command);
  [[nodiscard]] Next kick_all(std::string tube, std::vector<MessageInfo> jobs, State state);
  void note_kick(std::string_view tube, const MessageInfo& job);
  [[nodiscard]] Next pause(const Command& command);
  [[nodiscard]] Next with_tube(std::string_view tube,
                               base::UniqueFunction<Next(const QueueStats&)> then);

  // stats_commands.cpp
  [[nodiscard]] Next list_tubes();
  [[nodiscard]] Next stats_tube(const Command& command);
  [[nodiscard]] Next stats();
  [[nodiscard]] Next count_urgent(std::vector<std::string> tubes, std::uint64_t counted,
                                  base::UniqueFunction<Next(std::uint64_t)> then);

  const Clocks& clocks_;
  const std::uint64_t max_job_;
  Shared& shared_;
  Client& client_;
  Host& host_;
  std::deque<Reserve> reserves_;   // commands that are not answered yet
  std::uint32_t headers_ttr_ = 0;  // of `headers_`
  std::uint32_t headers_delay_ = 0;
  std::string headers_;
};

/// "INSERTED 17\r\n"
[[nodiscard]] std::string numbered(std::string_view word, std::uint64_t number);
/// "RESERVED 17 5\r\nhello\r\n"
void append_job(std::string& text, std::string_view word, std::uint64_t job,
                std::string_view payload);
/// "OK 12\r\n...\r\n"
[[nodiscard]] std::string ok(std::string_view yaml);

}  // namespace tarry::beanstalk
