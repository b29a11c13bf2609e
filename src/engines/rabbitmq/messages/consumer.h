// Consumer: claims messages, settles them, and looks at queues, over a connection of its own.
//
// A claim first takes due messages with basic.get, queue by queue. If there are none and it may
// wait, it consumes from its queues with a prefetch of 1 until the first message arrives or the
// wait ends. Then it takes further due messages with basic.get. So the broker hands out no message
// that no claim has asked for.
//
// Invariants
//  1. Each request is answered once: on the consumer's thread or, after `close`, on the thread that
//     closes.
//  2. A message counts as claimed from its arrival until it is acked or its channel ends. Retry,
//     release and bury publish a changed copy without x-death, and ack the message only after the
//     broker has confirmed the copy. So a message may come twice, but is never lost.
//  3. A settle is answered when the broker has processed its acks.
//  4. If a message arrives before it is due (two machines' clocks differ, or a policy shortens a
//  rung),
//     no claim gets it: it goes up the ladder again for the rest of its delay.
//
// Thread safety: any thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <tarry/log.h>
#include <tarry/result.h>
#include <tarry/settings.h>

#include "base/histogram.h"
#include "core/engine_parts/waiting_count.h"
#include "engines/rabbitmq/ladder/declarer.h"
#include "engines/rabbitmq/ladder/ladder.h"
#include "engines/rabbitmq/messages/link_thread.h"
#include "engines/rabbitmq/messages/pending_request.h"
#include "engines/rabbitmq/messages/publisher.h"
#include "engines/rabbitmq/messages/queue_channel.h"
#include "timing/real_clock.h"

namespace tarry::rabbitmq {

struct SettleJob;

class Consumer final : private LinkThread::User {
 public:
  Consumer(net::RabbitAddress address, Ladder ladder, Publisher& publisher,
           const core::Limits& limits, Log log);
  ~Consumer() override { close(); }

  [[nodiscard]] Result<void> start();
  void claim(core::Ticket ticket, PendingRequestPtr pending);
  void withdraw(core::Ticket ticket);
  void settle(PendingRequestPtr pending);
  void stats(PendingRequestPtr pending, std::set<std::string> queues);
  void list(PendingRequestPtr pending);
  void revive(PendingRequestPtr pending);
  void purge(PendingRequestPtr pending);
  /// Declares the queue. The only settings that it can have are the defaults.
  void configure(PendingRequestPtr pending);

  /// Answers all waiting claims with `closed`.
  void end_waits();
  /// Waits until the last acks have taken effect, for a second at most. The broker delivers
  /// unsettled messages again. Idempotent.
  void close();

 private:
  Result<void> connected(net::rabbit::RabbitLink& link) override;
  Result<void> take(const amqp_frame_t& frame) override;
  void lost(const Error& error) override;
  SteadyTime tick(SteadyTime now) override;
  void post(PendingRequestPtr pending, base::UniqueFunction<void(const PendingRequestPtr&)> run);

  // -- channels
  [[nodiscard]] bool has_channel(const std::string& queue) const noexcept;
  /// Opens it if there is none yet, and declares the queue.
  [[nodiscard]] Result<QueueChannel*> channel_of(const std::string& queue);
  [[nodiscard]] QueueChannel* channel_at(std::uint16_t channel) noexcept;
  [[nodiscard]] QueueChannel* channel_numbered(std::uint64_t number) noexcept;
  void end_channel(std::uint16_t channel, const Error& error);
  [[nodiscard]] Result<void> take_method(QueueChannel& queue_channel, const amqp_method_t& method);
  [[nodiscard]] Result<void> channel_closed(QueueChannel& queue_channel,
                                            const amqp_channel_close_t& closed);
  void begin_arrival(QueueChannel& queue_channel, Arriving arriving);
  void arrived(QueueChannel& queue_channel);
  void ack(std::uint64_t queue_channel, std::uint64_t tag);
  void barrier(QueueChannel& queue_channel, base::UniqueFunction<void(bool)> answered);
  void sent(int status);

  // -- claims
  void look(const ClaimPtr& claim);
  void get(QueueChannel& queue_channel, const ClaimPtr& claim, std::uint32_t count);
  void got(QueueChannel& queue_channel, const ClaimPtr& claim, std::uint32_t left);
  void got_none(const ClaimPtr& claim);
  void park(const ClaimPtr& claim);
  void end_wait(const ClaimPtr& claim);
  void stop_consuming(const Claim& claim);
  void consumer_ended(const ClaimPtr& claim, const std::string& tag);
  void answer(const ClaimPtr& claim);
  void fail(const ClaimPtr& claim, const Error& error);
  void finish(const ClaimPtr& claim);
  [[nodiscard]] static std::uint32_t room(const Claim& claim) noexcept;
  /// Returns the message to its queue, without counting the attempt.
  void release(std::uint64_t queue_channel, std::uint64_t tag);
  [[nodiscard]] bool keep_away(QueueChannel& queue_channel, std::uint64_t tag,
                               const ClaimedMessage& claimed);
  void tell_early(QueueChannel& queue_channel, std::int64_t early_ms);
  /// Publishes a changed copy, and acks the claimed message after that is confirmed.
  void replace(std::uint64_t queue_channel, std::uint64_t tag, Message message, bool dead);

  // -- settle
  void settle_item(const std::shared_ptr<SettleJob>& job, std::size_t index);
  void put_anew(const std::shared_ptr<SettleJob>& job, std::size_t index, Message message,
                bool dead);
  void acked(const std::shared_ptr<SettleJob>& job);
  static void unposted(const std::shared_ptr<SettleJob>& job);

  // -- the dead
  struct Looked;
  [[nodiscard]] Result<std::vector<Looked>> look_at_dead(const std::string& queue,
                                                         std::uint64_t most);
  void await_acks(const std::string& queue, std::uint64_t taken, SteadyTime end);
  void leave_dead(const std::string& queue, std::uint64_t left);

  const net::RabbitAddress address_;
  const Ladder ladder_;
  Publisher& publisher_;
  const Log log_;
  const std::uint64_t epoch_;
  const timing::RealClock clock_;
  const QueueSettings settings_;
  core::WaitingCount count_;

  std::optional<Declarer> declarer_;
  std::map<std::uint16_t, std::unique_ptr<QueueChannel>> queue_channels_;  // by channel
  std::uint64_t last_number_ = 0;
  std::map<core::Ticket, ClaimPtr> claims_;
  std::map<std::string, ClaimPtr, std::less<>> consumers_;  // by consumer tag
  std::uint64_t last_consumer_ = 0;
  std::size_t turn_ = 0;  // at which of its queues the next claim begins
  base::Histogram lateness_;
  bool told_early_ = false;  // it logs that once per connection
  bool closing_ = false;
  LinkThread thread_;
};

}  // namespace tarry::rabbitmq
