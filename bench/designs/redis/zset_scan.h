// ZsetScan: the common part of S1 and S2: a scan of one ZSET, whose tasks are claimed one after the
// other.
#pragma once

#include <deque>
#include <string>

#include "designs/redis/redis_client.h"

namespace tarry::bench {

class ZsetScan : public RedisClient {
 public:
  using RedisClient::RedisClient;

  void push(std::span<const Message> batch) override;
  /// Claims one task at most: the source deletes a task, passes it on, and only then deletes the
  /// next.
  std::unique_ptr<Claimed> claim(std::size_t max) override;
  bool cancel(const Message& message) override;
  bool reschedule(const Message& message, std::int64_t due_ms) override;

 protected:
  [[nodiscard]] virtual std::string zset_of(std::string_view member) const = 0;
  /// The ZSET that this scan reads until nothing in it is due.
  [[nodiscard]] virtual const std::string& scanned() const = 0;

 private:
  std::deque<std::string> tasks_;  // the scan has read these; they are not claimed yet
};

}  // namespace tarry::bench
