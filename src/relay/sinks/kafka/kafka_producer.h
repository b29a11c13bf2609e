// KafkaProducer: one idempotent producer of librdkafka: takes messages, and reports the result of
// each. kafka_sink.h uses it.
//
// Thread safety: none. (librdkafka's own threads only write to `wake`.)
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tarry/queue.h>
#include <tarry/result.h>

#include "relay/sink.h"
#include "relay/sinks/kafka/kafka_settings.h"

namespace tarry::relay {

struct KafkaReport {
  std::uint64_t token = 0;
  Answer answer;
  /// A broker refused the batch with this message as too large; other messages may have been in it.
  bool too_large = false;
};

/// Why the producer takes no messages now.
struct KafkaTrouble {
  std::string reason;
  bool fatal = false;  // this producer can never be used again; a new one may work
};

class KafkaProducer {
 public:
  struct Taken {
    bool full = false;                // not taken: librdkafka's own queue is full
    std::optional<Answer> otherwise;  // not taken, for this reason
  };

  /// Checks the options without connecting. Error: `invalid_argument` in librdkafka's words, with
  /// file and line if a setting is wrong.
  [[nodiscard]] static Result<void> check(const KafkaOptions& options);

  /// Connects on threads of its own. `wake` is an eventfd that becomes readable when `poll` has
  /// something to return; it must outlive the producer. Errors: those of `check`, and
  /// `unavailable`.
  [[nodiscard]] static Result<std::unique_ptr<KafkaProducer>> open(const KafkaOptions& options,
                                                                   int wake);
  ~KafkaProducer();
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  /// Gives a message to librdkafka. If it is taken, one report follows; the delivery must live
  /// until that report has come or the producer is destroyed.
  [[nodiscard]] Taken produce(std::uint64_t token, const Delivery& delivery);

  /// The reports that have come. If there are none, waits for them, at most `patience_ms`.
  [[nodiscard]] std::vector<KafkaReport> poll(int patience_ms);

  /// The trouble since a broker last confirmed a message.
  [[nodiscard]] const std::optional<KafkaTrouble>& trouble() const noexcept;

  /// Drops unconfirmed messages. Their reports, with this reason, follow soon.
  void abandon(const std::string& reason);

 private:
  class Impl;
  explicit KafkaProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::relay
