// One client's connection over beanstalkd's protocol: reads commands, carries them out one batch at
// a time, and sends the replies in order. The replies to all commands that have arrived together
// are sent together, unless a `reserve` has to wait.
//
// Thread safety and invariants: those of session::Connection.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/beanstalk/client.h"
#include "server/beanstalk/command_reader.h"
#include "server/beanstalk/commands.h"
#include "server/beanstalk/front.h"
#include "server/session/connection.h"

namespace tarry::beanstalk {

class Connection final : public session::Connection, private Host {
 public:
  Connection(Front& front, listening::Stream stream);

  void on_reply(session::HeldReply& reply) override;
  void on_refused(const session::Refusal& refusal) override;
  void free_memory() noexcept override;

 protected:
  void on_bytes(std::string_view bytes) override;
  [[nodiscard]] Incoming incoming() const noexcept override;
  [[nodiscard]] bool is_full() const noexcept override;
  [[nodiscard]] std::uint64_t kept() const noexcept override {
    return is_reading() ? 0 : reader_.memory();
  }
  void on_sent() override;
  [[nodiscard]] Millis first_deadline() const override;
  /// beanstalkd never closes a connection that is idle: a worker may be busy for hours.
  [[nodiscard]] Millis idle_deadline() const override;
  [[nodiscard]] bool has_claims() const noexcept override { return client_.has_reservations(); }
  [[nodiscard]] std::vector<core::SettleRequest> on_close() noexcept override;

 private:
  using Clock = std::chrono::steady_clock;

  // Host:
  [[nodiscard]] std::optional<Command> another(
      const std::function<bool(const Command&)>& fits) override;
  [[nodiscard]] const identity::Identity& identity() const noexcept override;
  [[nodiscard]] bool may_wait() const noexcept override { return replies_.empty(); }
  [[nodiscard]] bool is_draining() const noexcept override;
  void claimed(const core::ClaimReply& reply) override;

  void work();
  [[nodiscard]] bool step();
  void begin(const Command& command);
  [[nodiscard]] bool let_in(const Command& command);
  [[nodiscard]] bool is_drained() noexcept;
  void authenticate(const Command& command);
  void follow(Next next);
  void reply(Next next);
  void report(Verb verb, unsigned status, std::string_view reason);
  void wait_for_more();
  void flush();
  void count(const Command& command) noexcept;

  Front& front_;
  CommandReader reader_;
  Client client_;
  Commands commands_;
  identity::IdentityPtr token_;  // what the client has shown by `auth`

  // The batch in progress:
  Verb verb_ = Verb::unknown;
  std::size_t in_batch_ = 0;  // commands that are not answered yet
  Clock::time_point began_;
  Then then_;
  bool asking_ = false;
  bool working_ = false;

  std::string replies_;        // that have not been sent
  bool closing_ = false;       // once they are
  bool has_part_ = false;      // of a command, which has its deadline
  std::uint64_t arrived_ = 0;  // bytes
  // Once a drain has been noticed: how many bytes had arrived by then.
  std::optional<std::uint64_t> drained_at_;
};

}  // namespace tarry::beanstalk
