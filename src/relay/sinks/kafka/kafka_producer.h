// KafkaProducer: one idempotent producer of librdkafka: takes messages, and reports what became of
// each. kafka_sink.h uses it.
//
// Thread safety: none; librdkafka's own threads only write to `wake`.
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
  /// A broker found the batch too large in which this message was, maybe among others.
  bool too_large = false;
};

/// The producer takes no messages now.
struct KafkaTrouble {
  std::string reason;
  bool fatal = false;  // and never will again: a new one may
};

class KafkaProducer {
 public:
  struct Taken {
    bool full = false;                // not taken: librdkafka's own queue has no room now
    std::optional<Answer> otherwise;  // not taken: why
  };

  /// Errors: `invalid_argument`, in librdkafka's words, with the file and line if a setting is at
  /// fault. Connects nowhere.
  [[nodiscard]] static Result<void> check(const KafkaOptions& options);

  /// Connects on threads of its own. `wake`, an eventfd, becomes readable when there is something
  /// for `poll`; it must outlive the producer. Errors: as of `check`, and `unavailable`.
  [[nodiscard]] static Result<std::unique_ptr<KafkaProducer>> open(const KafkaOptions& options,
                                                                   int wake);
  ~KafkaProducer();
  KafkaProducer(const KafkaProducer&) = delete;
  KafkaProducer& operator=(const KafkaProducer&) = delete;

  /// If it is taken, one report follows, and the delivery must live until the report has come or
  /// the producer is gone.
  [[nodiscard]] Taken produce(std::uint64_t token, const Delivery& delivery);

  /// The reports so far, after `patience_ms` at most.
  [[nodiscard]] std::vector<KafkaReport> poll(int patience_ms);

  /// Since the last message that a broker confirmed.
  [[nodiscard]] const std::optional<KafkaTrouble>& trouble() const noexcept;

  /// Drops unconfirmed messages: their reports, with this reason, soon follow.
  void abandon(const std::string& reason);

 private:
  class Impl;
  explicit KafkaProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tarry::relay
