#include "relay/sinks/kafka/kafka_sink.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <map>
#include <utility>

#include "base/assert.h"
#include "base/text/text.h"
#include "base/threads/wake_event.h"
#include "relay/sinks/kafka/kafka_producer.h"
#include "relay/sinks/sink_thread.h"

namespace tarry::relay {
namespace {

using Clock = std::chrono::steady_clock;

// The longest wait while librdkafka has messages, or is to get some.
constexpr int kStillWaitingMs = 250;
/// How long to wait for a broker that restarts: the same producer can send messages again without
/// making duplicates.
constexpr std::chrono::milliseconds kGrace{3'000};
/// The same for a broker that was never reached: enough time to try all addresses of a name.
constexpr std::chrono::milliseconds kFirstGrace{1'000};
constexpr Moment kLookForLate{
    50};  // not more often, because it checks all messages that librdkafka has
constexpr int kPurgePatienceMs = 50;
constexpr int kPurgePolls = 40;
constexpr const char* kLeaseOver = "kafka: a lease ended before a broker had confirmed the message";

class KafkaSink final : public SinkThread {
 public:
  explicit KafkaSink(KafkaOptions options) : options_(std::move(options)) { begin(); }
  ~KafkaSink() override { end(); }
  [[nodiscard]] std::string title() const override {
    return "kafka " + options_.brokers + ", topic " + base::quoted(options_.topic);
  }

 private:
  void wake() override { wake_.set(); }

  void wait() override {
    pollfd fd{wake_.descriptor(), POLLIN, 0};
    // librdkafka reports only once that its queue is no longer empty. If that report was consumed
    // by an earlier look, no other one comes, so the wait is short.
    const bool waits_for_time =
        producer_ && (producer_->trouble() || !waiting_.empty() || !sent_.empty());
    static_cast<void>(::poll(&fd, 1, waits_for_time ? kStillWaitingMs : -1));
    wake_.clear();
  }
  void work(std::deque<Outgoing> arrived) override {
    std::ranges::move(arrived, std::back_inserter(waiting_));
    listen(0);
    take_back_late();
    hand_on();
    give_up();
  }
  void stop(std::deque<Outgoing> arrived) override {
    std::ranges::move(arrived, std::back_inserter(waiting_));
    break_off(kStopped);
  }

  void listen(int patience_ms) {
    if (!producer_) return;
    for (KafkaReport& report : producer_->poll(patience_ms)) take(std::move(report));
  }

  void take(KafkaReport report) {
    const auto found = sent_.find(report.token);
    TARRY_ASSERT(found != sent_.end());
    Outgoing outgoing = std::move(found->second);
    sent_.erase(found);
    const bool was_alone = std::exchange(one_alone_, false);
    if (report.too_large && !was_alone) {
      too_large_.push_back(std::move(outgoing));
      return;
    }
    // `down` means that the message was surely not sent.
    const bool late = report.answer.fate == Fate::down && outgoing.is_late();
    conclude(std::move(outgoing), late ? too_late() : std::move(report.answer));
  }

  /// librdkafka decides when to send. Messages whose leases have ended must not be sent any more;
  /// to take back one, librdkafka must give up all.
  void take_back_late() {
    const Moment now = moment_now();
    if (now < look_for_late_at_) return;
    look_for_late_at_ = now + kLookForLate;
    const auto is_late = [now](const auto& each) {
      const auto& lease = each.second.lease;
      return lease && lease->is_over(now);
    };
    if (std::ranges::any_of(sent_, is_late)) break_off(kLeaseOver);
  }

  void conclude(Outgoing outgoing, Answer answer) {
    if (answer.fate == Fate::confirmed) has_worked_ = true;
    if (answer.fate == Fate::down) why_down_ = answer.reason;
    outgoing.done(std::move(answer));
  }

  void hand_on() {
    if (waiting_.empty() && too_large_.empty()) return;
    if (!why_down_.empty() && !sent_.empty()) return refuse(why_down_);
    renew();
    if (!producer_ && !open()) return;
    if (one_alone_) return;
    // A batch was too large. Its messages are now sent one by one, to find the one that is too
    // large.
    while (!too_large_.empty() && sent_.empty()) {
      static_cast<void>(produce_first(too_large_));
      one_alone_ = !sent_.empty();
    }
    if (one_alone_ || !too_large_.empty()) return;
    while (!waiting_.empty() && produce_first(waiting_)) {
    }
  }

  /// Gives the first message to librdkafka, or answers it. False if librdkafka has no room now.
  [[nodiscard]] bool produce_first(std::deque<Outgoing>& batch) {
    if (batch.front().is_late()) {
      batch.front().done(too_late());
      batch.pop_front();
      return true;
    }
    const std::uint64_t token = next_token_++;
    const auto taken = producer_->produce(token, batch.front().delivery);
    if (taken.full && !sent_.empty()) return false;
    Outgoing outgoing = std::move(batch.front());
    batch.pop_front();
    if (taken.full) {
      conclude(std::move(outgoing), refused("kafka: it is larger than queue.buffering.max.kbytes"));
    } else if (taken.otherwise) {
      conclude(std::move(outgoing), *taken.otherwise);
    } else {
      sent_.emplace(token, std::move(outgoing));
    }
    return true;
  }

  bool open() {
    auto opened = KafkaProducer::open(options_, wake_.descriptor());
    if (!opened) {
      refuse(opened.error().message);
      return false;
    }
    producer_ = *std::move(opened);
    wake();  // the producer may have had news before it could report them
    return true;
  }

  void refuse(const std::string& reason) {
    for (std::deque<Outgoing>* batch : {&too_large_, &waiting_}) {
      for (Outgoing& outgoing : std::exchange(*batch, {})) outgoing.done(sink_down(reason));
    }
  }

  /// Drops a producer that failed, because it may report old failures again.
  void renew() {
    if (why_down_.empty() || !sent_.empty()) return;
    why_down_.clear();
    drop();
  }

  void drop() {
    producer_.reset();
    has_worked_ = false;
    one_alone_ = false;
    down_since_.reset();
  }

  void give_up() {
    renew();
    if (!producer_ || !producer_->trouble()) {
      down_since_.reset();
      return;
    }
    const KafkaTrouble trouble = *producer_->trouble();
    const auto now = Clock::now();
    if (!down_since_) down_since_ = now;
    // Without unanswered messages the producer is dropped at once: brokers also close connections
    // that are merely idle.
    const auto grace = has_worked_ ? kGrace : kFirstGrace;
    if (trouble.fatal || sent_.empty() || now - *down_since_ >= grace) {
      break_off(trouble.reason);
    }
  }

  void break_off(const std::string& reason) {
    if (producer_ && !sent_.empty()) {
      producer_->abandon(reason);
      for (int i = 0; i < kPurgePolls && !sent_.empty(); ++i) listen(kPurgePatienceMs);
    }
    drop();
    for (auto& [token, outgoing] : std::exchange(sent_, {})) outgoing.done(unknown(reason));
    refuse(reason);
    why_down_.clear();
  }

  const KafkaOptions options_;
  const base::WakeEvent wake_;

  // Used by the thread only. Until it is answered, a message is in one of these three.
  std::deque<Outgoing> waiting_;
  std::deque<Outgoing> too_large_;          // were in a batch that was too large; surely not stored
  std::map<std::uint64_t, Outgoing> sent_;  // by token
  std::unique_ptr<KafkaProducer> producer_;
  std::uint64_t next_token_ = 1;
  bool one_alone_ = false;   // whether the only message in sent_ was in a batch that was too large
  bool has_worked_ = false;  // whether this producer has had a message confirmed
  std::string why_down_;     // the producer's error; empty: it is up
  std::optional<Clock::time_point> down_since_;
  Moment look_for_late_at_{0};
};

}  // namespace

Result<std::unique_ptr<Sink>> kafka_sink(KafkaOptions options) {
  if (auto good = KafkaProducer::check(options); !good) return good.error();
  return std::unique_ptr<Sink>(std::make_unique<KafkaSink>(std::move(options)));
}

}  // namespace tarry::relay
